#include "runtime/cuda/products/product.hpp"

#include <monomorph/core/error.hpp>

#include <cublasLt.h>
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdio>
#include <mutex>

#include "runtime/cuda/host/check.hpp"
#include "runtime/cuda/products/algorithm_table.hpp"

namespace monomorph::cuda {
namespace {

constexpr int most_candidates = 32;

void check(cublasStatus_t status, const char* doing) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) cuda::check(cudaErrorMemoryAllocation, doing);
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
    case DType::e4m3:
      return CUDA_R_8F_E4M3;
    case DType::e5m2:
      return CUDA_R_8F_E5M2;
    case DType::u8:
      break;  // no factor of a product
  }
  __builtin_unreachable();
}

/// Ends with the pointer's owner.
template <auto destroy> struct Destroy {
  template <class T> void operator()(T* x) const { destroy(x); }
};
using Description = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>, Destroy<cublasLtMatmulDescDestroy>>;
using MatrixLayout =
    std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>, Destroy<cublasLtMatrixLayoutDestroy>>;
using Preference =
    std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>, Destroy<cublasLtMatmulPreferenceDestroy>>;

/// Bits may then differ from those of a run that has the algorithms: it is said once.
void say_that_table_is_of_another_place() {
  static std::once_flag said;
  std::call_once(said, [] {
    fmt::print(stderr,
               "note: the table of product algorithms has none for this GPU (sm_{}) with cuBLASLt {}; products are "
               "computed as cuBLASLt recommends first\n",
               algorithm_place().sm, algorithm_place().cublas_lt);
  });
}
void say_that_entry_is_refused(const Product& p) {
  static std::once_flag said;
  std::call_once(said, [&] {
    fmt::print(stderr,
               "note: cuBLASLt does not take what the table of product algorithms has for {}; such products are "
               "computed as it recommends first\n",
               text_of(p));
  });
}

MatrixLayout layout_of(const Operand& x, std::int64_t rows, std::int64_t columns, const Batch& batch) {
  cublasLtMatrixLayout_t made = nullptr;
  check(cublasLtMatrixLayoutCreate(&made, type_of(x.dtype), static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), x.stride),
        "describing a matrix");
  MatrixLayout layout(made);
  const auto set = [&](cublasLtMatrixLayoutAttribute_t attribute, const auto& value) {
    check(cublasLtMatrixLayoutSetAttribute(made, attribute, &value, sizeof value), "describing a matrix");
  };
  if (batch.products > 1) {
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<std::int32_t>(batch.products));
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, batch.distance);
  }
  return layout;
}

}  // namespace

struct ProductPlan::Parts {
  bool in_fp64;
  Description product;
  MatrixLayout a, b, c, d;
  cublasLtMatmulAlgo_t algorithm{};
  int n_candidates = 0;

  explicit Parts(const Product& p)
      : in_fp64(p.d.dtype == DType::fp64),
        a(layout_of(p.a, p.a.transposed ? p.k : p.m, p.a.transposed ? p.m : p.k, p.batch)),
        b(layout_of(p.b, p.b.transposed ? p.n : p.k, p.b.transposed ? p.k : p.n, p.batch)),
        c(layout_of(p.c, p.m, p.n, p.batch)),
        d(layout_of(p.d, p.m, p.n, p.batch)) {
    cublasLtMatmulDesc_t made = nullptr;
    check(cublasLtMatmulDescCreate(&made, in_fp64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F,
                                   in_fp64 ? CUDA_R_64F : CUDA_R_32F),
          "describing a product");
    product.reset(made);
    set(CUBLASLT_MATMUL_DESC_TRANSA, p.a.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, p.b.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(p));
    if (p.bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type_of(p.bias_dtype));
    if (p.epilogue != Epilogue::none) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.aux.stride);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, type_of(p.aux.dtype));
    }
    if (p.sums_shortly) set(CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    set_addresses(p);
  }

  static cublasLtEpilogue_t epilogue_of(const Product& p) {
    switch (p.epilogue) {
      case Epilogue::none:
        return p.bias != nullptr ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
      case Epilogue::gelu:
        return p.bias != nullptr ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
      case Epilogue::gelu_gradient:
        return CUBLASLT_EPILOGUE_DGELU;
    }
    __builtin_unreachable();
  }
  /// Sets those addresses that are no arguments when a product is started.
  void set_addresses(const Product& p) {
    if (p.bias != nullptr) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias);
    if (p.epilogue != Epilogue::none) set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.aux.data);
    set_scales(p);
  }

  void set_scales(const Product& p) {
    if (p.a_scale != nullptr) set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, p.a_scale);
    if (p.b_scale != nullptr) set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, p.b_scale);
  }
  template <class T> void set(cublasLtMatmulDescAttributes_t attribute, const T& value) {
    check(cublasLtMatmulDescSetAttribute(product.get(), attribute, &value, sizeof value), "describing a product");
  }

  /// @return false: the table has nothing for this product, or nothing that cuBLASLt takes
  bool choose_by_table(const Product& p) {
    const AlgorithmTable& table = algorithm_table();
    if (table.empty()) return false;
    const AlgorithmPlace& here = algorithm_place();
    if (table.is_asked_for && !table.has_place(here)) say_that_table_is_of_another_place();
    const Algorithm* const found = table.find(here, p);
    if (found == nullptr) return false;
    algorithm = std::bit_cast<cublasLtMatmulAlgo_t>(*found);
    cublasLtMatmulHeuristicResult_t checked{};
    const cublasStatus_t status =
        cublasLtMatmulAlgoCheck(handle(), product.get(), a.get(), b.get(), c.get(), d.get(), &algorithm, &checked);
    const bool taken = status == CUBLAS_STATUS_SUCCESS && checked.state == CUBLAS_STATUS_SUCCESS &&
                       checked.workspaceSize <= static_cast<std::size_t>(product_workspace_bytes);
    if (taken)
      n_candidates = 1;
    else
      say_that_entry_is_refused(p);
    return taken;
  }

  /// @param rank among what cuBLASLt recommends; one that does not exist is the first
  void choose(const Product& p, int rank) {
    cublasLtMatmulPreference_t made = nullptr;
    check(cublasLtMatmulPreferenceCreate(&made), "choosing");
    const Preference preference(made);
    const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, auto value) {
      check(cublasLtMatmulPreferenceSetAttribute(made, attribute, &value, sizeof value), "choosing");
    };
    prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(product_workspace_bytes));
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, p.a.alignment());
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, p.b.alignment());
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, p.c.alignment());
    prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, p.d.alignment());
    // A way that divides a sum among blocks must not round what they add up, as some do in the dtype of the result.
    if (size_of(p.d.dtype) < size_of(DType::fp32))
      prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
             static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
    std::array<cublasLtMatmulHeuristicResult_t, most_candidates> found{};
    const cublasStatus_t status =
        cublasLtMatmulAlgoGetHeuristic(handle(), product.get(), a.get(), b.get(), c.get(), d.get(), made,
                                       most_candidates, found.data(), &n_candidates);
    if (status != CUBLAS_STATUS_SUCCESS) n_candidates = 0;
    if (n_candidates == 0 && p.epilogue != Epilogue::none) return;
    if (n_candidates == 0)
      throw Error("GPU-04",
                  fmt::format("cuBLASLt has no way to compute a product of {} tokens with {} and {} features "
                              "in {} to {} ({}); choose another precision or other widths",
                              p.n, p.k, p.m, name_of(p.a.dtype), name_of(p.d.dtype), cublasLtGetStatusName(status)));
    algorithm = found[static_cast<std::size_t>(rank < n_candidates ? rank : 0)].algo;
  }
};

const AlgorithmPlace& algorithm_place() {
  static const AlgorithmPlace of_process = [] {
    int device = 0;
    cudaDeviceProp properties{};
    cuda::check(cudaGetDevice(&device), "naming itself");
    cuda::check(cudaGetDeviceProperties(&properties, device), "naming itself");
    return AlgorithmPlace{10 * properties.major + properties.minor, cublasLtGetVersion()};
  }();
  return of_process;
}

ProductPlan::ProductPlan(const Product& product) : parts_(std::make_unique<Parts>(product)) {
  if (!parts_->choose_by_table(product)) parts_->choose(product, 0);
}
ProductPlan::ProductPlan(const Product& product, int rank) : parts_(std::make_unique<Parts>(product)) {
  parts_->choose(product, rank);
}
ProductPlan::ProductPlan(ProductPlan&&) noexcept = default;
ProductPlan::~ProductPlan() = default;

int ProductPlan::candidates() const { return parts_->n_candidates; }
Algorithm ProductPlan::algorithm() const {
  static_assert(sizeof(cublasLtMatmulAlgo_t) == sizeof(Algorithm));
  return std::bit_cast<Algorithm>(parts_->algorithm);
}

void ProductPlan::run(const Product& p, Queue queue, std::byte* workspace) const {
  parts_->set_addresses(p);
  const double alpha = p.times, beta = p.adds_c ? p.times_c : 0;
  const auto alpha_fp32 = static_cast<float>(alpha), beta_fp32 = static_cast<float>(beta);
  const auto in_its_type = [&](const double& fp64, const float& fp32) {
    return parts_->in_fp64 ? static_cast<const void*>(&fp64) : &fp32;
  };
  check(cublasLtMatmul(handle(), parts_->product.get(), in_its_type(alpha, alpha_fp32), p.a.data, parts_->a.get(),
                       p.b.data, parts_->b.get(), in_its_type(beta, beta_fp32), p.c.data, parts_->c.get(),
                       const_cast<std::byte*>(p.d.data), parts_->d.get(), &parts_->algorithm, workspace,
                       product_workspace_bytes, queue.stream),
        "starting a product");
}

}  // namespace monomorph::cuda
