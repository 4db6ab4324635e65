#pragma once
#include <monomorph/core/dtype.hpp>
#include <monomorph/device/cuda.hpp>
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <tuple>
#include <vector>

/// One matrix product as cuBLASLt computes it. It stores matrices by columns, so what lies by rows here is the
/// transpose there: y = x wᵀ is computed as yᵀ = w xᵀ, whose m are our features and whose n are our tokens.
namespace monomorph::cuda {

/// As the plan counts. cuBLAS asks for 32 MiB on Hopper.
inline constexpr std::int64_t product_workspace_bytes = device::Cuda::product_workspace_bytes;

/// A matrix by columns.
struct Operand {
  const std::byte* data = nullptr;
  DType dtype = DType::fp32;
  std::int64_t stride = 0;  ///< elements between its columns
  bool transposed = false;

  /// The operand that a view is: cuBLASLt takes its rows for columns.
  static Operand of(const View& view, bool transposed = false) {
    return {view.data, view.dtype, std::max(view.stride, view.shape.cols), transposed};
  }
  static constexpr std::uint32_t most_alignment = 256;
  /// The greatest power of two, up to that one, at a multiple of which it begins.
  std::uint32_t alignment() const {
    const auto address = reinterpret_cast<std::uintptr_t>(data) | most_alignment;
    return std::uint32_t{1} << std::countr_zero(address);
  }
  auto key() const { return std::tuple(dtype, stride, transposed, alignment()); }
};

/// What cuBLASLt does to a product before it writes it.
enum class Epilogue {
  none,
  gelu,           ///< d = gelu(product), and aux gets the product
  gelu_gradient,  ///< d = product · gelu'(aux)
};

/// Products of one kind that are computed together. Each operand lies `distance` elements behind that of the product
/// before, so all operands have one dtype.
struct Batch {
  std::int64_t products = 1, distance = 0;
  auto operator<=>(const Batch&) const = default;
};

/// d = times a b (+ times_c c, which may be d) (+ the bias in each column), d of m rows and n columns. Factors of 8
/// bits have each a number in the GPU's memory, by which the product is multiplied before anything is added to it.
struct Product {
  std::int64_t m, n, k;
  Operand a, b, c, d;
  bool adds_c = false;
  double times = 1, times_c = 1;  ///< no algorithm depends on them, so they are no part of the key
  Batch batch{};
  const std::byte* bias = nullptr;
  DType bias_dtype = DType::fp32;
  Epilogue epilogue = Epilogue::none;
  Operand aux{};  ///< of the epilogue, of d's rows, columns and dtype
  const float *a_scale = nullptr, *b_scale = nullptr;
  /// Of factors of 8 bits: partial sums may be formed in fewer bits than those of fp32, as Hopper does at its full
  /// rate.
  bool sums_shortly = false;
  auto key() const {
    return std::tuple(m, n, k, a.key(), b.key(), c.key(), d.key(), adds_c, batch, bias != nullptr, bias_dtype, epilogue,
                      aux.key(), sums_shortly);
  }
};

/// What cuBLASLt must be told of a kind of product, and one way of computing it. A product of a kind is always computed
/// in the same way, so its bits are the same in each step and each run on such a GPU.
class ProductPlan {
 public:
  /// As the table of algorithms says, or else as cuBLASLt recommends first.
  /// @throws Error [GPU-04] it knows none, unless the product has an epilogue
  explicit ProductPlan(const Product& product);
  /// To be measured.   @param rank among the ways that cuBLASLt recommends; one that does not exist is the first
  ProductPlan(const Product& product, int rank);
  ProductPlan(ProductPlan&&) noexcept;
  ~ProductPlan();

  /// @param workspace of at least product_workspace_bytes
  /// @throws Error [GPU-04] cuBLASLt does not start it
  void run(const Product& product, Queue queue, std::byte* workspace) const;
  /// How many ways cuBLASLt recommends, at most 32; none only of a product with an epilogue.
  int candidates() const;
  /// In cuBLASLt's own form (algorithm_table.hpp).
  std::array<std::uint64_t, 8> algorithm() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// One product of each kind that this process has computed so far, for bench/gpu/tune.
std::vector<Product> planned_products();

}  // namespace monomorph::cuda
