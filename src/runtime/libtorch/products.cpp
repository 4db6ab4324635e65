#include "runtime/libtorch/products.hpp"

// Fortran's BLAS as libtorch_cpu exports it.
extern "C" {
monomorph::libtorch::Gemm<float, float> sgemm_;
monomorph::libtorch::Gemm<double, double> dgemm_;
[[gnu::weak]] monomorph::libtorch::Gemm<std::uint16_t, float> gemm_bf16bf16f32_;
[[gnu::weak]] int MKL_Set_Num_Threads_Local(int threads);
}

namespace monomorph::libtorch {

const Products& exported_products() {
  static const Products products{sgemm_, dgemm_, gemm_bf16bf16f32_, MKL_Set_Num_Threads_Local};
  return products;
}

}  // namespace monomorph::libtorch
