# What reads Parquet files, an optional part: monomorph::parquet, a library of its own, so that nothing else links Arrow, and
# of it the module that programs open for the first such file (src/core/module.hpp).
#
# Arrow is taken from PyPI's wheel pyarrow, which has its headers, and libraries without a package that would say where they
# are. They are built with the ABI that g++ has by default for strings, and what they bring to decompress is hidden in them.
set(MONOMORPH_ARROW_DIR "${PROJECT_SOURCE_DIR}/.deps/arrow/pyarrow" CACHE PATH
  "The folder pyarrow of the PyPI wheel: has include/ and the libraries")
file(GLOB arrow_libraries ${MONOMORPH_ARROW_DIR}/libparquet.so.* ${MONOMORPH_ARROW_DIR}/libarrow.so.*)
list(LENGTH arrow_libraries n_arrow_libraries)
if(NOT n_arrow_libraries EQUAL 2 OR NOT EXISTS ${MONOMORPH_ARROW_DIR}/include/parquet/arrow/reader.h)
  message(STATUS "Without pyarrow, no .parquet files are read: tools/setup/install --parquet and configure again")
  return()
endif()
file(GLOB sources CONFIGURE_DEPENDS src/data/parquet/*.cpp)
list(FILTER sources EXCLUDE REGEX "/module.cpp$")
add_library(monomorph_parquet STATIC ${sources})
add_library(monomorph::parquet ALIAS monomorph_parquet)
target_include_directories(monomorph_parquet PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
target_include_directories(monomorph_parquet SYSTEM PRIVATE ${MONOMORPH_ARROW_DIR}/include)
target_compile_definitions(monomorph_parquet PRIVATE _GLIBCXX_USE_CXX11_ABI=1 INTERFACE MONOMORPH_HAS_PARQUET)
target_link_libraries(monomorph_parquet PUBLIC monomorph::data PRIVATE monomorph::dev_warnings monomorph::fmt ${arrow_libraries})
monomorph_add_module(monomorph_parquet_module monomorph_parquet src/data/parquet/module.cpp)
target_link_libraries(monomorph_parquet_module PRIVATE monomorph::parquet)
target_link_options(monomorph_parquet_module PRIVATE LINKER:--exclude-libs,ALL)
