# What programs call of LibTorch, but for blocks that LibTorch differentiates: the module libmonomorph_libtorch.so
# (src/runtime/machine/libtorch.hpp). Included from the root, after monomorph_runtime.
monomorph_import(gloo libgloo-dev gloo/algorithm.h)  # only opaque pointers: the library itself is LibTorch's
target_compile_definitions(monomorph::gloo INTERFACE USE_C10D_GLOO)  # as LibTorch was built
# c10d's headers want torch/types.h, of LibTorch's C++ API.
target_include_directories(monomorph::gloo SYSTEM INTERFACE ${MONOMORPH_TORCH_DIR}/include/torch/csrc/api/include)
file(GLOB sources CONFIGURE_DEPENDS src/runtime/libtorch/*.cpp)
monomorph_add_module(monomorph_libtorch monomorph_libtorch ${sources})
target_link_libraries(monomorph_libtorch PRIVATE monomorph::gloo monomorph::torch)
monomorph_opens_modules(monomorph_runtime)
# LibTorch's own libraries are for programs with blocks that call it.
target_link_options(monomorph_runtime INTERFACE LINKER:--as-needed)
