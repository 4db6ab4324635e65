#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/most_blocks.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/pairwise.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <algorithm>
#include <stdexcept>

namespace monomorph::cuda {
namespace {

constexpr int sum_threads = 256;

struct Terms {
  const void* data[most_terms];
  bool is_narrow[most_terms];  ///< in the dtype that the sum has not
  int n;
};
static_assert(sizeof(Terms) < 32'000 && most_terms < 1 << pairwise_levels);

/// One pack of the sum.
template <int levels, int width, class Narrow, class T>
__device__ void add_up_pack(const Terms& terms, T* sum, std::int64_t i, bool accumulate) {
  using S = Compute<T>;
  const auto term = [&](int k) {
    if (sizeof(Narrow) < sizeof(T) && terms.is_narrow[k])
      return read_pack<S, width>(static_cast<const Narrow*>(terms.data[k]) + i);
    return read_pack<S, width>(static_cast<const T*>(terms.data[k]) + i);
  };
  const auto total = pairwise_total<Pack<S, width>, levels>(terms.n, term);
  write_pack(accumulate ? read_pack<S, width>(sum + i) + total : total, sum + i);
}

/// @tparam Narrow the dtype of terms that have not the sum's, or that of the sum
template <int levels, int width, class Narrow, class T>
__global__ void __launch_bounds__(sum_threads)
    add_up_parts(const __grid_constant__ Terms terms, T* sum, std::int64_t n, bool accumulate) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * sum_threads + threadIdx.x) * width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * sum_threads * width;
  for (std::int64_t i = first; i < n; i += step) {
    if (i + width <= n) {
      add_up_pack<levels, width, Narrow>(terms, sum, i, accumulate);
    } else {
      MONOMORPH_KEEP_LOOP
      for (std::int64_t tail = i; tail < n; ++tail) add_up_pack<levels, 1, Narrow>(terms, sum, tail, accumulate);
    }
  }
}

template <int levels, int width, class Narrow, class T>
void start(Queue queue, const Terms& terms, View sum, bool accumulate) {
  constexpr std::int64_t block_elements = std::int64_t{sum_threads} * width;
  const std::int64_t n = sum.elements(),
                     blocks = std::min((n + block_elements - 1) / block_elements, most_blocks(4096));
  launch(add_up_parts<levels, width, Narrow, T>, {static_cast<unsigned>(blocks), sum_threads}, queue, terms,
         sum.as<T>(), n, accumulate);
}

/// Few terms need few registers, and views that lie as they do in buffers are read in whole packs.
template <class Narrow, class T> void choose(Queue queue, const Terms& terms, View sum, bool accumulate) {
  constexpr int few_levels = 4, width = pack_width<Narrow, T>();
  const bool packed = starts_access(sum.data) && std::all_of(terms.data, terms.data + terms.n, starts_access);
  if (!packed)
    start<pairwise_levels, 1, Narrow, T>(queue, terms, sum, accumulate);
  else if (terms.n < 1 << few_levels)
    start<few_levels, width, Narrow, T>(queue, terms, sum, accumulate);
  else
    start<pairwise_levels, width, Narrow, T>(queue, terms, sum, accumulate);
}

/// The dtype of the parts that have not the sum's; the sum's if all have it.
DType other_dtype(std::span<const View> parts, DType of_sum) {
  DType other = of_sum;
  for (const View& part : parts) {
    if (part.dtype == of_sum) continue;
    if (of_sum != DType::fp32 || part.dtype == DType::fp64 || (other != of_sum && part.dtype != other))
      throw std::logic_error("cuda::pairwise_sum adds to fp32 terms of fp32 and of one dtype of 16 bits");
    other = part.dtype;
  }
  return other;
}

}  // namespace

void pairwise_sum(Queue queue, std::span<const View> parts, View sum, bool accumulate) {
  const KernelSpan span(Work::elementwise, "pairwise_sum", queue.stream);
  if (!sum.present()) return;
  const DType other = other_dtype(parts, sum.dtype);
  Terms terms;
  terms.n = static_cast<int>(parts.size());
  for (int i = 0; i < terms.n; ++i) {
    terms.data[i] = parts[i].data;
    terms.is_narrow[i] = parts[i].dtype != sum.dtype;
  }
  in_element_type(sum.dtype, [&]<class T>() {
    if (other == sum.dtype) return choose<T, T>(queue, terms, sum, accumulate);
    if constexpr (std::same_as<T, float>) {
      if (other == DType::bf16)
        choose<BFloat16, float>(queue, terms, sum, accumulate);
      else
        choose<Half, float>(queue, terms, sum, accumulate);
    }
  });
}

}  // namespace monomorph::cuda
