#include "runtime/cpu/gemm.hpp"
#include "runtime/machine/isa.hpp"

// Fortran's BLAS as libtorch_cpu exports it: column-major, 32-bit sizes.
extern "C" {
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb, const float* beta,
            float* c, const int* ldc);
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb, const double* beta,
            double* c, const int* ldc);
// Only the x86 build of LibTorch, with MKL, has these.
[[gnu::weak]] void gemm_bf16bf16f32_(const char* transpose_a, const char* transpose_b, const int* m, const int* n,
                                     const int* k, const float* alpha, const std::uint16_t* a, const int* lda,
                                     const std::uint16_t* b, const int* ldb, const float* beta, float* c,
                                     const int* ldc);
[[gnu::weak]] int MKL_Set_Num_Threads_Local(int threads);
}

namespace monomorph::detail {
namespace {

/// While it lives, products on this thread stay on it.
class OneThread {
 public:
  OneThread() : before_(MKL_Set_Num_Threads_Local ? MKL_Set_Num_Threads_Local(1) : 0) {}
  ~OneThread() {
    if (MKL_Set_Num_Threads_Local) MKL_Set_Num_Threads_Local(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int before_;
};

// A row-major matrix is the transpose of the column-major one at the same place: cᵀ = op(b)ᵀ · op(a)ᵀ.
template <auto routine, class Operand, class Result>
void row_major(const GemmShape& shape, Result alpha, const Operand* a, std::int64_t lda, const Operand* b,
               std::int64_t ldb, Result beta, Result* c, std::int64_t ldc) {
  const OneThread one_thread;
  const char transpose_a = shape.a == Transpose::yes ? 'T' : 'N', transpose_b = shape.b == Transpose::yes ? 'T' : 'N';
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n), k = static_cast<int>(shape.k);
  const int stride_a = static_cast<int>(lda), stride_b = static_cast<int>(ldb), stride_c = static_cast<int>(ldc);
  routine(&transpose_b, &transpose_a, &n, &m, &k, &alpha, b, &stride_b, a, &stride_a, &beta, c, &stride_c);
}
}  // namespace

void gemm(const GemmShape& shape, float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
          float beta, float* c, std::int64_t ldc) {
  row_major<sgemm_>(shape, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(const GemmShape& shape, double alpha, const double* a, std::int64_t lda, const double* b, std::int64_t ldb,
          double beta, double* c, std::int64_t ldc) {
  row_major<dgemm_>(shape, alpha, a, lda, b, ldb, beta, c, ldc);
}

bool processor_multiplies_bf16() {
#if defined(__x86_64__)
  static const bool has = (__builtin_cpu_init(), __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512bf16")) &&
                          gemm_bf16bf16f32_ != nullptr;
  return has && active_isa() == Isa::avx512;
#else
  return false;
#endif
}

void gemm_bf16(const GemmShape& shape, float alpha, const std::uint16_t* a, std::int64_t lda, const std::uint16_t* b,
               std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  row_major<gemm_bf16bf16f32_>(shape, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace monomorph::detail
