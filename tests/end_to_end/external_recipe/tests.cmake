# A recipe outside the tree, built against an installation and against the build tree: configure, build, describe.
set(prefix ${CMAKE_CURRENT_BINARY_DIR}/installed)
add_test(NAME end_to_end.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${prefix})
set_tests_properties(end_to_end.install PROPERTIES LABELS end_to_end FIXTURES_SETUP installed)

function(monomorph_add_external_recipe_test NAME PACKAGE_FOLDER)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/external_${NAME})
  add_test(NAME end_to_end.external_recipe.${NAME} COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/external_recipe ${folder} --build-generator ${CMAKE_GENERATOR}
    --build-options -Dmonomorph_DIR=${PACKAGE_FOLDER} -DCMAKE_CXX_COMPILER=${CMAKE_CXX_COMPILER}
    -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} "-DCMAKE_CXX_FLAGS=${external_flags}"
    --test-command ${folder}/external_tiny describe)
  set_tests_properties(end_to_end.external_recipe.${NAME} PROPERTIES LABELS end_to_end
    PASS_REGULAR_EXPRESSION "external_tiny")
endfunction()
if(MONOMORPH_SANITIZE)
  set(external_flags "-fsanitize=address,undefined")
endif()
monomorph_add_external_recipe_test(installed ${prefix}/${CMAKE_INSTALL_LIBDIR}/cmake/monomorph)
monomorph_add_external_recipe_test(build_tree ${PROJECT_BINARY_DIR})
set_tests_properties(end_to_end.external_recipe.installed PROPERTIES FIXTURES_REQUIRED installed)
