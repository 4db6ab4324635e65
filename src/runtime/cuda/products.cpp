#include "runtime/cuda/check.hpp"
#include "runtime/cuda/staging.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>

#include <cublasLt.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <map>
#include <tuple>

/// Matrix products by cuBLASLt. It stores matrices by columns, so what lies by rows here is the transpose there: y = x
/// wᵀ is computed as yᵀ = w xᵀ, whose m are our features and whose n are our tokens.
namespace monomorph::cuda {
namespace {

/// cuBLAS asks for 32 MiB on Hopper.
constexpr std::int64_t workspace_bytes = std::int64_t{64} << 20;

void check(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error("GPU-04", fmt::format("cuBLASLt failed while {} ({})", doing, cublasLtGetStatusName(status)));
}

cublasLtHandle_t handle() {
  static const cublasLtHandle_t of_process = [] {
    cublasLtHandle_t created = nullptr;
    check(cublasLtCreate(&created), "starting");
    return created;
  }();
  return of_process;
}

cudaDataType_t type_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return CUDA_R_64F;
    case DType::fp32:
      return CUDA_R_32F;
    case DType::bf16:
      return CUDA_R_16BF;
    case DType::fp16:
      return CUDA_R_16F;
  }
  __builtin_unreachable();
}

/// A matrix by columns.
struct Operand {
  const std::byte* data = nullptr;
  DType dtype = DType::fp32;
  std::int64_t stride = 0;  ///< elements between its columns
  bool transposed = false;

  /// Of a view, whose rows are its columns.
  static Operand of(const View& view, bool transposed = false) {
    return {view.data, view.dtype, std::max(view.stride, view.shape.cols), transposed};
  }
  /// The greatest power of two up to 256 at a multiple of which it begins.
  std::uint32_t alignment() const {
    const auto address = reinterpret_cast<std::uintptr_t>(data) | 256u;
    return std::uint32_t{1} << std::countr_zero(address);
  }
  auto key() const { return std::tuple(dtype, stride, transposed, alignment()); }
};

enum class Epilogue { nothing, add_bias, sum_rows_of_b };

/// d = a b (+ c, or + d), d of m rows and n columns. The vector is the bias, or gets b's sums.
struct Product {
  std::int64_t m, n, k;
  Operand a, b, c, d;
  bool adds_c = false;
  Epilogue epilogue = Epilogue::nothing;
  std::byte* vector = nullptr;
  DType vector_dtype = DType::fp32;
  auto key() const { return std::tuple(m, n, k, a.key(), b.key(), c.key(), d.key(), adds_c, epilogue, vector_dtype); }
};

/// What cuBLASLt must be told of a kind of product, and the way of computing it that it recommends first. A product of
/// a kind is always computed in the same way, so its bits are the same in each step and each run on such a GPU.
class Plan {
 public:
  explicit Plan(const Product& p) : in_fp64_(p.d.dtype == DType::fp64) {
    const bool in_fp64 = in_fp64_;
    check(cublasLtMatmulDescCreate(&product_, in_fp64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                   in_fp64 ? CUDA_R_64F : CUDA_R_32F),
          "describing a product");
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (p.epilogue != Epilogue::nothing) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE,
          p.epilogue == Epilogue::add_bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_BGRADB);
      set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(p.vector_dtype));
      set_vector(p);
    }
    a_ = layout(p.a, p.a.transposed ? p.k : p.m, p.a.transposed ? p.m : p.k);
    b_ = layout(p.b, p.b.transposed ? p.n : p.k, p.b.transposed ? p.k : p.n);
    c_ = layout(p.c, p.m, p.n);
    d_ = layout(p.d, p.m, p.n);
    choose(p);
  }
  Plan(const Plan&) = delete;

  void run(const Product& p, Queue queue, std::byte* workspace) {
    if (p.epilogue != Epilogue::nothing) set_vector(p);
    constexpr float one = 1, zero = 0;
    constexpr double one64 = 1, zero64 = 0;
    const void* const alpha = in_fp64_ ? static_cast<const void*>(&one64) : &one;
    const void* const beta = in_fp64_ ? static_cast<const void*>(p.adds_c ? &one64 : &zero64) : p.adds_c ? &one : &zero;
    check(cublasLtMatmul(handle(), product_, alpha, p.a.data, a_, p.b.data, b_, beta, p.c.data, c_,
                         const_cast<std::byte*>(p.d.data), d_, &algorithm_, workspace, workspace_bytes, queue.stream),
          "starting a product");
  }

 private:
  template <class T> void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(product_, attribute, &value, sizeof value), "describing a product");
  }
  void set_vector(const Product& p) { set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.vector); }

  static cublasLtMatrixLayout_t layout(const Operand& x, std::int64_t rows, std::int64_t columns) {
    cublasLtMatrixLayout_t made = nullptr;
    check(cublasLtMatrixLayoutCreate(&made, type_of(x.dtype), static_cast<std::uint64_t>(rows),
                                     static_cast<std::uint64_t>(columns), x.stride),
          "describing a matrix");
    return made;
  }

  void choose(const Product& p) {
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference), "choosing");
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value), "choosing");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(workspace_bytes));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.a.alignment());
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.b.alignment());
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.c.alignment());
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.d.alignment());
    cublasLtMatmulHeuristicResult_t found{};
    int n_found = 0;
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle(), product_, a_, b_, c_, d_, preference, 1, &found, &n_found);
    cublasLtMatmulPreferenceDestroy(preference);
    if (status != CUBLAS_STATUS_SUCCESS || n_found == 0)
      throw Error("GPU-04",
                  fmt::format("cuBLASLt has no way to compute a product of {} tokens with {} and {} features "
                              "in {} to {} ({}); choose another precision or other widths",
                              p.n, p.k, p.m, name_of(p.a.dtype), name_of(p.d.dtype), cublasLtGetStatusName(status)));
    algorithm_ = found.algo;
  }

  bool in_fp64_;
  cublasLtMatmulDesc_t product_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr, d_ = nullptr;
  cublasLtMatmulAlgo_t algorithm_{};
};

/// @param workspace of at least workspace_bytes
void run(Queue queue, const Product& p, std::byte* workspace) {
  static std::map<decltype(p.key()), Plan> plans;  // as many as a recipe has kinds of products
  plans.try_emplace(p.key(), p).first->second.run(p, queue, workspace);
}
void run(Queue queue, const Product& p) { run(queue, p, workspace(queue, workspace_bytes)); }

/// yᵀ = w xᵀ.
Product projection(const View& x, const View& w, const View& bias, const View& y) {
  Product p{.m = w.shape.rows,
            .n = x.shape.rows,
            .k = x.shape.cols,
            .a = Operand::of(w, true),
            .b = Operand::of(x),
            .c = Operand::of(y),
            .d = Operand::of(y)};
  if (bias.present()) {
    p.epilogue = Epilogue::add_bias;
    p.vector = bias.data;
    p.vector_dtype = bias.dtype;
  }
  return p;
}

}  // namespace

void linear(Queue queue, View x, View w, View bias, View y) {
  if (y.present()) run(queue, projection(x, w, bias, y));
}

void linear_add(Queue queue, View x, View w, View bias, View residual, View y) {
  if (!y.present()) return;
  Product p = projection(x, w, bias, y);
  if (residual.present()) {
    p.c = Operand::of(residual);
    p.adds_c = true;
  }
  run(queue, p);
}

void linear_backward_input(Queue queue, View dy, View w, View dx, bool accumulate) {
  if (!dx.present()) return;
  run(queue, {.m = dx.shape.cols,
              .n = dx.shape.rows,
              .k = dy.shape.cols,
              .a = Operand::of(w),
              .b = Operand::of(dy),
              .c = Operand::of(dx),
              .d = Operand::of(dx),
              .adds_c = accumulate});
}

/// cuBLASLt overwrites sums of rows, so what is to be added lies behind its workspace first.
void linear_backward_weight(Queue queue, View dy, View x, View dw, View dbias, bool accumulate) {
  if (!dw.present()) return;
  Product p{.m = x.shape.cols,
            .n = dy.shape.cols,
            .k = dy.shape.rows,
            .a = Operand::of(x),
            .b = Operand::of(dy, true),
            .c = Operand::of(dw),
            .d = Operand::of(dw),
            .adds_c = accumulate};
  if (!dbias.present()) return run(queue, p);
  std::byte* const memory = workspace(queue, workspace_bytes + (accumulate ? dbias.bytes() : 0));
  const View sums = accumulate ? View{memory + workspace_bytes, dbias.dtype, dbias.shape} : dbias;
  p.epilogue = Epilogue::sum_rows_of_b;
  p.vector = sums.data;
  p.vector_dtype = dbias.dtype;
  run(queue, p, memory);
  if (accumulate) add(queue, sums, dbias);
}

}  // namespace monomorph::cuda
