// The functions of cuBLASLt that the backend calls. What they are asked for and do not know, they throw: a product that
// went another way than cuBLASLt's would prove nothing.
#include <cublasLt.h>

#include <algorithm>
#include <cstring>
#include <monomorph/core/dtype.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulator/multiplication.hpp"
#include "simulator/simulator.hpp"

namespace monomorph::simulator {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw std::logic_error("the simulated cuBLASLt does not know " + what + "; teach it, in tests/simulator");
}

struct Layout {
  DType dtype;
  std::int64_t rows, columns, stride;
  std::int32_t batch = 1;
  std::int64_t distance = 0;  ///< elements from a matrix of the batch to the next one
};
struct Description {
  cublasComputeType_t compute;
  cudaDataType_t scale;
  cublasOperation_t a = CUBLAS_OP_N, b = CUBLAS_OP_N;
  cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  cudaDataType_t bias_type = CUDA_R_32F;
  void* bias = nullptr;
  cudaDataType_t aux_type = CUDA_R_32F;
  void* aux = nullptr;
  std::int64_t aux_stride = 0;
  const float *a_scale = nullptr, *b_scale = nullptr;
  std::int8_t sums_shortly = 0;

  bool has_bias() const { return epilogue == CUBLASLT_EPILOGUE_BIAS || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS; }
  bool is_gelu() const { return epilogue == CUBLASLT_EPILOGUE_GELU_AUX || epilogue == CUBLASLT_EPILOGUE_GELU_AUX_BIAS; }
  bool is_gelu_gradient() const { return epilogue == CUBLASLT_EPILOGUE_DGELU; }
};

// The header's types are incomplete outside of the library but for their size, and made by it.
Layout& of(cublasLtMatrixLayout_t layout) { return *reinterpret_cast<Layout*>(layout); }
Description& of(cublasLtMatmulDesc_t description) { return *reinterpret_cast<Description*>(description); }

DType dtype_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_64F:
      return DType::fp64;
    case CUDA_R_32F:
      return DType::fp32;
    case CUDA_R_16BF:
      return DType::bf16;
    case CUDA_R_16F:
      return DType::fp16;
    case CUDA_R_8F_E4M3:
      return DType::e4m3;
    case CUDA_R_8F_E5M2:
      return DType::e5m2;
    default:
      refuse("the type " + std::to_string(type));
  }
}

template <class T> void assign(T& member, const void* value, std::size_t bytes) {
  if (bytes != sizeof(T)) refuse("an attribute of " + std::to_string(bytes) + " bytes");
  std::memcpy(&member, value, bytes);
}

bool is_transposed(cublasOperation_t operation) {
  if (operation != CUBLAS_OP_N && operation != CUBLAS_OP_T) refuse("the operation " + std::to_string(operation));
  return operation == CUBLAS_OP_T;
}

/// What goes with a product that is activated is of its type, of 16 bits, and is read and written 16 bytes at a time.
void check_epilogue(const Description& how, DType d) {
  const bool activates = how.is_gelu() || how.is_gelu_gradient();
  const bool known = activates || how.has_bias() || how.epilogue == CUBLASLT_EPILOGUE_DEFAULT;
  const std::string name = "the epilogue " + std::to_string(how.epilogue);
  if (!known || (how.has_bias() && dtype_of(how.bias_type) != d)) refuse(name + " with a bias of this type");
  if (!activates) return;
  if (dtype_of(how.aux_type) != d || (d != DType::bf16 && d != DType::fp16)) refuse(name + " of this type");
  constexpr std::int64_t access = 16, elements = 8;
  if (how.aux_stride % elements != 0 || reinterpret_cast<std::uintptr_t>(how.aux) % access != 0)
    refuse(name + " beside memory that does not lie so");
}

bool is_fp8(DType dtype) { return size_of(dtype) == 1; }

/// cuBLASLt's table of types for factors of 8 bits, of which one at most has the wider range.
void check_fp8_types(const Description& how, DType a, DType b, DType c, DType d) {
  const bool factors = is_fp8(a) && is_fp8(b) && (a == DType::e4m3 || b == DType::e4m3);
  const bool sum = c == d && (d == DType::bf16 || d == DType::fp16 || d == DType::fp32);
  if (!factors || !sum || how.compute != CUBLAS_COMPUTE_32F || how.scale != CUDA_R_32F)
    refuse("a product of these types");
  const DType bias = d == DType::fp16 ? DType::fp16 : DType::bf16;
  for (const float* scale : {how.a_scale, how.b_scale})
    if (reinterpret_cast<std::uintptr_t>(scale) % 16 != 0) refuse("scales between accesses");
  if (how.epilogue == CUBLASLT_EPILOGUE_BIAS ? dtype_of(how.bias_type) != bias
                                             : how.epilogue != CUBLASLT_EPILOGUE_DEFAULT)
    refuse("the epilogue " + std::to_string(how.epilogue) + " with a bias of this type");
}

/// Both factors lie along what is added up, and everything at multiples of 16 bytes.
void check_fp8_shapes(const Description& how, const Layout& a, const Layout& b, const Layout& d) {
  if (how.a != CUBLAS_OP_T || how.b != CUBLAS_OP_N) refuse("a product of 8 bits but of aᵀ b");
  for (const std::int64_t extent : {a.rows, a.columns, b.columns})
    if (extent % 16 != 0) refuse("a product of 8 bits with " + std::to_string(extent) + " rows, columns or terms");
  for (const Layout& x : {a, b, d})
    if (x.stride * size_of(x.dtype) % 16 != 0) refuse("columns of 8 bits that begin between accesses");
}

/// cuBLASLt's table of types, as far as the backend uses it.
void check_types(const Description& how, DType a, DType b, DType c, DType d) {
  if (is_fp8(a) || is_fp8(b)) return check_fp8_types(how, a, b, c, d);
  if (how.a_scale != nullptr || how.b_scale != nullptr || how.sums_shortly != 0) refuse("scales of these types");
  const bool in_fp64 = d == DType::fp64;
  const bool compute = how.compute == (in_fp64 ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F) &&
                       how.scale == (in_fp64 ? CUDA_R_64F : CUDA_R_32F);
  const bool narrow = a == DType::bf16 || a == DType::fp16;
  if (!compute || a != b || c != d || (a != d && !(narrow && d == DType::fp32))) refuse("a product of these types");
  check_epilogue(how, d);
}

void check_shapes(const Description& how, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  const auto shape = [](const Layout& x, cublasOperation_t operation) {
    return is_transposed(operation) ? std::pair(x.columns, x.rows) : std::pair(x.rows, x.columns);
  };
  const auto [m, k] = shape(a, how.a);
  const auto [k_of_b, n] = shape(b, how.b);
  if (k != k_of_b || d.rows != m || d.columns != n || c.rows != m || c.columns != n)
    refuse("a product of these shapes");
  for (const Layout& x : {a, b, c, d})
    if (x.stride < x.rows) refuse("columns that overlap");
}

/// All matrices are of one batch, and what is written of one is not what is written of another.
void check_batch(const Description& how, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  for (const Layout& x : {a, b, c, d})
    if (x.batch < 1 || x.batch != d.batch) refuse("a batch of " + std::to_string(x.batch) + " matrices here");
  if (d.batch == 1) return;
  if (how.epilogue != CUBLASLT_EPILOGUE_DEFAULT || is_fp8(a.dtype)) refuse("a batch of such products");
  if (d.distance < d.stride * (d.columns - 1) + d.rows) refuse("matrices of a batch that overlap");
}

void check(const Description& how, const Layout& a, const Layout& b, const Layout& c, const Layout& d) {
  check_types(how, a.dtype, b.dtype, c.dtype, d.dtype);
  check_shapes(how, a, b, c, d);
  check_batch(how, a, b, c, d);
  if (is_fp8(a.dtype)) check_fp8_shapes(how, a, b, d);
}

/// @param place of the matrix in its batch
Matrix matrix_of(const void* data, const Layout& layout, std::int64_t place, bool transposed = false) {
  auto* const bytes =
      const_cast<std::byte*>(static_cast<const std::byte*>(data)) + place * layout.distance * size_of(layout.dtype);
  return {{bytes, layout.dtype, {layout.columns, layout.rows}, layout.stride}, transposed};
}

bool overlap(const Matrix& a, const Matrix& b) {
  const auto end = [](const Matrix& x) {
    return x.rows.data + ((x.rows.shape.rows - 1) * x.rows.stride + x.rows.shape.cols) * size_of(x.rows.dtype);
  };
  return a.rows.data < end(b) && b.rows.data < end(a);
}
/// Products of a batch run in any order.
void check_order(const std::vector<Multiplication>& products) {
  for (const Multiplication& one : products)
    for (const Multiplication& other : products) {
      if (&one == &other) continue;
      const bool reads_c = other.beta != 0 && overlap(one.d, other.c);
      if (overlap(one.d, other.a) || overlap(one.d, other.b) || reads_c)
        refuse("a batch of which one product writes what another one reads");
    }
}

double number(const void* x, cudaDataType_t type) {
  return type == CUDA_R_64F ? *static_cast<const double*>(x) : *static_cast<const float*>(x);
}

// All algorithms compute the same, and are told apart by a number.
constexpr std::size_t n_algorithms = std::tuple_size_v<decltype(Counts::products_by)>;
constexpr std::uint64_t of_ours = 0x6d6f6e6f;
cublasLtMatmulAlgo_t algorithm_of(std::uint64_t number) { return {.data = {of_ours, number}}; }
bool is_known(const cublasLtMatmulAlgo_t& algorithm) {
  return algorithm.data[0] == of_ours && algorithm.data[1] < n_algorithms;
}

cublasLtMatmulHeuristicResult_t result_of(const cublasLtMatmulAlgo_t& algorithm) {
  cublasLtMatmulHeuristicResult_t result{};
  result.algo = algorithm;
  return result;
}

/// A product leaves its workspace with what nobody should read.
void spoil(void* workspace, std::size_t bytes) {
  constexpr std::size_t most = 1 << 16;
  const std::size_t n = std::min(bytes, most);
  Simulator::the().writes(workspace, n);
  std::memset(workspace, 0xFF, n);
}

}  // namespace
}  // namespace monomorph::simulator

using namespace monomorph::simulator;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = reinterpret_cast<cublasLtHandle_t>(&Simulator::the());
  return CUBLAS_STATUS_SUCCESS;
}
const char* cublasLtGetStatusName(cublasStatus_t status) {
  return status == CUBLAS_STATUS_EXECUTION_FAILED ? "CUBLAS_STATUS_EXECUTION_FAILED" : "another status";
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t type, std::uint64_t rows,
                                          std::uint64_t columns, std::int64_t stride) {
  *made = reinterpret_cast<cublasLtMatrixLayout_t>(
      new Layout{dtype_of(type), static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns), stride});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete &of(layout);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute, const void* value,
                                                std::size_t bytes) {
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      assign(of(layout).batch, value, bytes);
      break;
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      assign(of(layout).distance, value, bytes);
      break;
    default:
      refuse("the attribute " + std::to_string(attribute) + " of a matrix");
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t compute, cudaDataType_t scale) {
  *made = reinterpret_cast<cublasLtMatmulDesc_t>(new Description{.compute = compute, .scale = scale});
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete &of(description);
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute, const void* value,
                                              std::size_t bytes) {
  Description& how = of(description);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
      assign(how.a, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_TRANSB:
      assign(how.b, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      assign(how.epilogue, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE:
      assign(how.bias_type, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_BIAS_POINTER:
      assign(how.bias, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE:
      assign(how.aux_type, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER:
      assign(how.aux, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD:
      assign(how.aux_stride, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
      assign(how.a_scale, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      assign(how.b_scale, value, bytes);
      break;
    case CUBLASLT_MATMUL_DESC_FAST_ACCUM:
      assign(how.sums_shortly, value, bytes);
      break;
    default:
      refuse("the attribute " + std::to_string(attribute) + " of a product");
  }
  return CUBLAS_STATUS_SUCCESS;
}

// Every preference is fulfilled: the one way of computing needs no workspace and takes any alignment.
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = new cublasLtMatmulPreferenceOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t, int n_asked,
                                              cublasLtMatmulHeuristicResult_t* found, int* n_found) {
  const Description& how = of(description);
  check(how, of(a), of(b), of(c), of(d));
  if ((how.is_gelu() || how.is_gelu_gradient()) && !Simulator::the().has_epilogues()) {
    *n_found = 0;
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  *n_found = std::min(n_asked, static_cast<int>(n_algorithms));
  for (int i = 0; i < *n_found; ++i) found[i] = result_of(algorithm_of(static_cast<std::uint64_t>(i)));
  return CUBLAS_STATUS_SUCCESS;
}
std::size_t cublasLtGetVersion() { return 130'000; }
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,
                                       cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                       const cublasLtMatmulAlgo_t* algorithm, cublasLtMatmulHeuristicResult_t* result) {
  check(of(description), of(a), of(b), of(c), of(d));
  *result = result_of(*algorithm);
  return is_known(*algorithm) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void* alpha, const void* a,
                              cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                              const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algorithm, void* workspace,
                              std::size_t workspace_bytes, cudaStream_t stream) {
  const Description& how = of(description);
  check(how, of(a_layout), of(b_layout), of(c_layout), of(d_layout));
  if (is_fp8(of(a_layout).dtype))
    for (const void* matrix : {a, b, c, static_cast<const void*>(d)})
      if (reinterpret_cast<std::uintptr_t>(matrix) % 16 != 0) refuse("a matrix of 8 bits that begins between accesses");
  const auto of_batch = [&](std::int64_t place) {
    return Multiplication{.a = matrix_of(a, of(a_layout), place, is_transposed(how.a)),
                          .b = matrix_of(b, of(b_layout), place, is_transposed(how.b)),
                          .c = matrix_of(c, of(c_layout), place),
                          .d = matrix_of(d, of(d_layout), place),
                          .bias = {},
                          .aux = {},
                          .alpha = number(alpha, how.scale),
                          .beta = number(beta, how.scale),
                          .a_scale = how.a_scale,
                          .b_scale = how.b_scale};
  };
  std::vector<Multiplication> products;
  for (std::int32_t place = 0; place < of(d_layout).batch; ++place) products.push_back(of_batch(place));
  check_order(products);
  Multiplication& product = products.front();  // the only one if anything comes after it
  using After = Multiplication::After;
  if (how.is_gelu() || how.is_gelu_gradient()) {
    product.after = how.is_gelu() ? After::gelu : After::gelu_gradient;
    product.aux =
        matrix_of(how.aux, {dtype_of(how.aux_type), of(d_layout).rows, of(d_layout).columns, how.aux_stride}, 0);
  }
  if (how.has_bias())
    product.bias = {static_cast<std::byte*>(how.bias), dtype_of(how.bias_type), {1, of(d_layout).rows}};
  if (!is_known(*algorithm)) refuse("such an algorithm");
  ++Simulator::the().counts().products;
  ++Simulator::the().counts().products_by[algorithm->data[1]];
  const Status status = Simulator::the().give(stream, "product", [=] {
    for (const Multiplication& one : products) one.run();
    spoil(workspace, workspace_bytes);
  });
  return status == Status::success ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}
