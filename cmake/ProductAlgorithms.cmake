# monomorph_add_product_algorithms(<target>): builds the table of product algorithms into a library of the CUDA backend.
function(monomorph_add_product_algorithms TARGET)
  set(table ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../src/runtime/cuda/products/algorithms.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${table})
  file(READ ${table} ALGORITHMS)
  string(REPLACE "\n" "\\n\"\n    \"" ALGORITHMS "${ALGORITHMS}")  # a literal for each line: compilers limit the length of one
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/product_algorithms.cpp.in
    ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}_product_algorithms.cpp @ONLY)
  target_sources(${TARGET} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/${TARGET}_product_algorithms.cpp)
endfunction()
