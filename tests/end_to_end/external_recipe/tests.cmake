# A recipe outside the tree, built against an installation and against the build tree: configure, build, describe.
set(prefix "${CMAKE_CURRENT_BINARY_DIR}/installed ä")
add_test(NAME end_to_end.install COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${prefix})
set_tests_properties(end_to_end.install PROPERTIES LABELS end_to_end FIXTURES_SETUP installed)

set(external_environment CXX=${CMAKE_CXX_COMPILER} CMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE} CMAKE_GENERATOR=${CMAKE_GENERATOR})
if(MONOMORPH_SANITIZE)
  list(APPEND external_environment "CXXFLAGS=-fsanitize=address,undefined")
endif()

if(MONOMORPH_INSTALL_LIBTORCH)
  set(not_needed ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR} ${MONOMORPH_TORCH_DIR})
endif()
add_test(NAME end_to_end.external_recipe.installed COMMAND bash
  ${CMAKE_CURRENT_SOURCE_DIR}/external_recipe/installed_test.sh ${prefix} ${not_needed})
set_tests_properties(end_to_end.external_recipe.installed PROPERTIES LABELS end_to_end FIXTURES_REQUIRED installed
  SKIP_REGULAR_EXPRESSION "skipped: mount namespaces" ENVIRONMENT "${external_environment}")

set(folder "${CMAKE_CURRENT_BINARY_DIR}/external ä")
add_test(NAME end_to_end.external_recipe.build_tree COMMAND ${CMAKE_CTEST_COMMAND}
  --build-and-test ${CMAKE_CURRENT_SOURCE_DIR}/external_recipe ${folder} --build-generator ${CMAKE_GENERATOR}
  --build-options -Dmonomorph_DIR=${PROJECT_BINARY_DIR} --test-command ${folder}/external_tiny describe)
set_tests_properties(end_to_end.external_recipe.build_tree PROPERTIES LABELS end_to_end
  ENVIRONMENT "${external_environment}" PASS_REGULAR_EXPRESSION "external_tiny")
