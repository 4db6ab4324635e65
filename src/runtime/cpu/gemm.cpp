#include "runtime/cpu/gemm.hpp"
#include "runtime/machine/isa.hpp"
#include "runtime/machine/libtorch.hpp"

namespace monomorph::detail {
namespace {

const libtorch::Products& products() {
  static const libtorch::Products& loaded = libtorch::library().products();
  return loaded;
}

/// While it lives, products on this thread stay on it.
class OneThread {
 public:
  explicit OneThread(const libtorch::Products& library)
      : set_(library.set_threads_of_caller), before_(set_ != nullptr ? set_(1) : 0) {}
  ~OneThread() {
    if (set_ != nullptr) set_(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  int (*set_)(int);
  int before_;
};

// A row-major matrix is the transpose of the column-major one at the same place: cᵀ = op(b)ᵀ · op(a)ᵀ.
template <auto routine, class Operand, class Result>
void row_major(const GemmShape& shape, Result alpha, const Operand* a, std::int64_t lda, const Operand* b,
               std::int64_t ldb, Result beta, Result* c, std::int64_t ldc) {
  const libtorch::Products& library = products();
  const OneThread one_thread(library);
  const char transpose_a = shape.a == Transpose::yes ? 'T' : 'N', transpose_b = shape.b == Transpose::yes ? 'T' : 'N';
  const int m = static_cast<int>(shape.m), n = static_cast<int>(shape.n), k = static_cast<int>(shape.k);
  const int stride_a = static_cast<int>(lda), stride_b = static_cast<int>(ldb), stride_c = static_cast<int>(ldc);
  (library.*routine)(&transpose_b, &transpose_a, &n, &m, &k, &alpha, b, &stride_b, a, &stride_a, &beta, c, &stride_c);
}
}  // namespace

void load_products() { (void)products(); }

void gemm(const GemmShape& shape, float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
          float beta, float* c, std::int64_t ldc) {
  row_major<&libtorch::Products::fp32>(shape, alpha, a, lda, b, ldb, beta, c, ldc);
}

void gemm(const GemmShape& shape, double alpha, const double* a, std::int64_t lda, const double* b, std::int64_t ldb,
          double beta, double* c, std::int64_t ldc) {
  row_major<&libtorch::Products::fp64>(shape, alpha, a, lda, b, ldb, beta, c, ldc);
}

bool processor_multiplies_bf16() {
#if defined(__x86_64__)
  static const bool has = (__builtin_cpu_init(), __builtin_cpu_is("intel") && __builtin_cpu_supports("avx512bf16")) &&
                          products().bf16 != nullptr;
  return has && active_isa() == Isa::avx512;
#else
  return false;
#endif
}

void gemm_bf16(const GemmShape& shape, float alpha, const std::uint16_t* a, std::int64_t lda, const std::uint16_t* b,
               std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  row_major<&libtorch::Products::bf16>(shape, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // namespace monomorph::detail
