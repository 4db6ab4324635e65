#pragma once
#include <cstdint>

/// Matrix products of LibTorch's BLAS on the calling thread alone, so that no bit depends on the number of threads. All
/// matrices are row-major with a leading dimension: c (m × n) = alpha · op(a) (m × k) · op(b) (k × n) + beta · c, where
/// op transposes if asked. Allocates nothing of ours.
namespace monomorph::detail {

enum class Transpose : bool { no, yes };

struct GemmShape {
  std::int64_t m, n, k;
  Transpose a = Transpose::no, b = Transpose::no;
};

/// Loads the library that multiplies, which the first product would do, too: on a thread of a team of which it could
/// not report a failure.   @throws Error [RUN-33] it can't be loaded
void load_products();

void gemm(const GemmShape& shape, float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
          float beta, float* c, std::int64_t ldc);
void gemm(const GemmShape& shape, double alpha, const double* a, std::int64_t lda, const double* b, std::int64_t ldb,
          double beta, double* c, std::int64_t ldc);

/// Whether the processor multiplies bf16 matrices; where it does not, the library is hundreds of times slower at it.
/// Not with a narrower instruction set in use than the processor's, nor on AMD's processors, where the library's bits
/// depend on addresses and threads (docs/why/tiles_by_shape.md).
bool processor_multiplies_bf16();
/// a and b hold bf16. Only where processor_multiplies_bf16().
void gemm_bf16(const GemmShape& shape, float alpha, const std::uint16_t* a, std::int64_t lda, const std::uint16_t* b,
               std::int64_t ldb, float beta, float* c, std::int64_t ldc);

}  // namespace monomorph::detail
