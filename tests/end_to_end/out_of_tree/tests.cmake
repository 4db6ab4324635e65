# The example project of a stranger, who has optimizers of their own.
add_test(NAME end_to_end.out_of_tree COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/out_of_tree/train_test.sh
  ${PROJECT_SOURCE_DIR}/examples/out_of_tree ${programs_by_name} ${sources_by_name})
set_tests_properties(end_to_end.out_of_tree PROPERTIES LABELS end_to_end ENVIRONMENT "${external_environment}")
