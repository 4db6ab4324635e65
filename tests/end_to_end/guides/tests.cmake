# What the README and the guides tell their readers, done: each of their code blocks is written where they say, built
# and run (see try_page.py), in a folder with a name as users' folders have it.
file(GLOB pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/docs/guides/*.md)
foreach(page IN LISTS pages)
  cmake_path(GET page STEM name)
  set(test end_to_end.guide.${name})
  add_test(NAME ${test} COMMAND python3 ${CMAKE_CURRENT_LIST_DIR}/try_page.py ${page}
    "${CMAKE_CURRENT_BINARY_DIR}/guides ä/${name}")
  set_tests_properties(${test} PROPERTIES LABELS end_to_end ENVIRONMENT "${external_environment};OMP_WAIT_POLICY=passive\
;MONOMORPH_SOURCE_DIR=${PROJECT_SOURCE_DIR};MONOMORPH_BINARY_DIR=${PROJECT_BINARY_DIR}")
endforeach()
