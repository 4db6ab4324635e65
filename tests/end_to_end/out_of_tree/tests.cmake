# The example project of a stranger, who has policies of their own: built against an installation, and trained.
add_test(NAME end_to_end.out_of_tree COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/out_of_tree/train_test.sh
  ${PROJECT_SOURCE_DIR}/examples/out_of_tree ${prefix} ${sources_by_name})
set_tests_properties(end_to_end.out_of_tree PROPERTIES LABELS end_to_end FIXTURES_REQUIRED installed
  ENVIRONMENT "${external_environment}")

# The same with Monomorph's sources as a folder of the project, which differs in how CMake finds things and not in what recipes are, so
# that one of them is enough. Its libraries would be built once more, so no program is linked; and as none runs, nothing is optimised.
if(MONOMORPH_CCACHE)
  set(launcher -DCMAKE_CXX_COMPILER_LAUNCHER=${MONOMORPH_CCACHE})
endif()
add_test(NAME end_to_end.out_of_tree.add_subdirectory COMMAND ${CMAKE_CTEST_COMMAND}
  --build-and-test ${PROJECT_SOURCE_DIR}/examples/out_of_tree "${CMAKE_CURRENT_BINARY_DIR}/with the sources ä"
  --build-generator ${CMAKE_GENERATOR} --build-options -DMONOMORPH_SOURCES=${PROJECT_SOURCE_DIR}
  -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG=-O0 ${launcher} --build-target recipe_watched)
set_tests_properties(end_to_end.out_of_tree.add_subdirectory PROPERTIES LABELS end_to_end ENVIRONMENT "${external_environment}")
