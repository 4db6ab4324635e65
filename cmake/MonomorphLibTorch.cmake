# What programs call of LibTorch, but for blocks that LibTorch differentiates: libmonomorph_libtorch.so, which a program
# loads when it first needs it (src/runtime/machine/libtorch.hpp). Included from the root, after monomorph_runtime.
monomorph_import(gloo libgloo-dev gloo/algorithm.h)  # only opaque pointers: the library itself is LibTorch's
target_compile_definitions(monomorph::gloo INTERFACE USE_C10D_GLOO)  # as LibTorch was built
# c10d's headers want torch/types.h, of LibTorch's C++ API.
target_include_directories(monomorph::gloo SYSTEM INTERFACE ${MONOMORPH_TORCH_DIR}/include/torch/csrc/api/include)
file(GLOB sources CONFIGURE_DEPENDS src/runtime/libtorch/*.cpp)
add_library(monomorph_libtorch MODULE ${sources})
target_include_directories(monomorph_libtorch PRIVATE src)
target_link_libraries(monomorph_libtorch PRIVATE monomorph::gloo monomorph::torch monomorph::dev_warnings)
set_target_properties(monomorph_libtorch PROPERTIES
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
# Who has the one has the other, and finds it.
add_dependencies(monomorph_runtime monomorph_libtorch)
include(GNUInstallDirs)
target_link_options(monomorph_runtime INTERFACE
  "$<BUILD_INTERFACE:LINKER:-rpath,${PROJECT_BINARY_DIR}>"
  "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}/monomorph>"
  LINKER:--as-needed)  # LibTorch's own libraries, of which a program with a block of its own may need something
