#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/launch/block_memory.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/launch/most_blocks.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/divide_by_norm.hpp"
#include "runtime/cuda/sums/exact_terms.hpp"
#include "runtime/cuda/sums/lanes.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <monomorph/core/exact_sum.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

// Sums of 64 elements are rounded as the CPU rounds them (src/runtime/isa/reduce.hpp): the elements of each of sixteen
// lanes in their order, lanes 8 to 15 onto lanes 0 to 7, then these one after the other. Four threads share them and
// have four neighbouring lanes each. What is added up after that is exact, and has no order.
namespace monomorph::cuda {
namespace {

constexpr int norm_threads = 256, norm_group = 64, group_lanes = 16, group_threads = 4, thread_lanes = 4;

struct Square {
  __device__ double operator()(double x) const { return x * x; }
};
struct Magnitude {
  __device__ double operator()(double x) const { return x < 0 ? -x : x; }
};

/// The sum of 64 elements, right in the second of the four threads that share them. All of a warp take part.
template <class Term, class T> __device__ double sum_of_group(const T* group, bool aligned) {
  const int part = static_cast<int>(threadIdx.x) % group_threads;
  double sums[thread_lanes] = {};
  MONOMORPH_UNROLL
  for (int row = 0; row < norm_group / group_lanes; ++row) {
    const T* from = group + row * group_lanes + part * thread_lanes;
    Pack<double, thread_lanes> x;
    if (aligned) {
      x = read_pack<double, thread_lanes>(from);
    } else {
      MONOMORPH_UNROLL
      for (int lane = 0; lane < thread_lanes; ++lane) x.at[lane] = converted<double>(from[lane]);
    }
    MONOMORPH_UNROLL
    for (int lane = 0; lane < thread_lanes; ++lane) sums[lane] += Term()(x.at[lane]);
  }
  MONOMORPH_UNROLL
  for (int lane = 0; lane < thread_lanes; ++lane) sums[lane] += __shfl_xor_sync(all_lanes, sums[lane], 2);
  double first_half = 0;
  MONOMORPH_UNROLL
  for (int lane = 0; lane < thread_lanes; ++lane) first_half += sums[lane];
  double total = __shfl_xor_sync(all_lanes, first_half, 1);  // that of lanes 0 to 3, in the second thread
  MONOMORPH_UNROLL
  for (int lane = 0; lane < thread_lanes; ++lane) total += sums[lane];
  return total;
}

/// The sum of the n < 64 elements behind the last group, of which a quarter may be a row of lanes.
template <class Term, class T> __device__ double sum_of_rest(const T* rest, int n) {
  double total = 0;
  const int in_rows = n / group_lanes * group_lanes;
  if (in_rows > 0) {
    MONOMORPH_KEEP_LOOP
    for (int lane = 0; lane < group_lanes / 2; ++lane) {
      double even = 0, odd = 0;
      MONOMORPH_KEEP_LOOP
      for (int i = lane; i < in_rows; i += group_lanes) {
        even += Term()(converted<double>(rest[i]));
        odd += Term()(converted<double>(rest[i + group_lanes / 2]));
      }
      total += even + odd;
    }
  }
  MONOMORPH_KEEP_LOOP
  for (int i = in_rows; i < n; ++i) total += Term()(converted<double>(rest[i]));
  return total;
}

struct SharedWords {
  std::int64_t words[ExactSum::n_words];
};

/// The words of each block's sum, with nothing carried between them.
template <class Term, class T>
__global__ void __launch_bounds__(norm_threads)
    sum_blocks(const T* x, std::int64_t n, bool aligned, std::int64_t* words_of_blocks) {
  auto& shared = block_memory<SharedWords>();
  for (int i = static_cast<int>(threadIdx.x); i < ExactSum::n_words; i += norm_threads) shared.words[i] = 0;
  __syncthreads();
  ExactTerms terms(shared.words);
  const int part = static_cast<int>(threadIdx.x) % group_threads;
  constexpr std::int64_t block_groups = norm_threads / group_threads;
  const std::int64_t groups = n / norm_group, all = gridDim.x * block_groups;
  const std::int64_t own = blockIdx.x * block_groups + threadIdx.x / group_threads;
  // A block's warps take part in all of its turns.
  for (std::int64_t first = blockIdx.x * block_groups; first < groups; first += all) {
    const std::int64_t group = first + threadIdx.x / group_threads;
    const bool there = group < groups;
    const double sum = sum_of_group<Term>(x + (there ? group : 0) * norm_group, aligned);
    if (there && part == 1) terms.add(sum);
  }
  if (own == 0 && part == 0 && n % norm_group != 0)
    terms.add(sum_of_rest<Term>(x + groups * norm_group, static_cast<int>(n % norm_group)));
  terms.flush();
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < ExactSum::n_words; i += norm_threads)
    words_of_blocks[std::int64_t{blockIdx.x} * ExactSum::n_words + i] = shared.words[i];
}

constexpr int join_threads = 512, join_parts = join_threads / ExactSum::n_words;

/// The words of the sum of all blocks, right for the first thread. One block adds up, a thread each word of a part of
/// the blocks.
__device__ inline const std::int64_t* joined_words(const std::int64_t* words_of_blocks, int blocks) {
  struct Parts {
    std::int64_t words[join_parts][ExactSum::n_words];
  };
  auto& shared = block_memory<Parts>();
  const int word = static_cast<int>(threadIdx.x) % ExactSum::n_words,
            part = static_cast<int>(threadIdx.x) / ExactSum::n_words;
  if (part < join_parts) {
    std::int64_t sum = 0;
    for (int i = part; i < blocks; i += join_parts) sum += words_of_blocks[i * ExactSum::n_words + word];
    shared.words[part][word] = sum;
  }
  __syncthreads();
  if (part == 0)
    for (int i = 1; i < join_parts; ++i) shared.words[0][word] += shared.words[i][word];
  __syncthreads();
  return shared.words[0];
}

__global__ void __launch_bounds__(join_threads)
    join_sums(const std::int64_t* words_of_blocks, int blocks, PartialGradientNorm* norm) {
  const std::int64_t* const words = joined_words(words_of_blocks, blocks);
  if (threadIdx.x == 0) norm->sum.add_words(words);
}

/// One over the root of a sum of squares.
struct InverseNorm {
  double value;
  ExactSum squares;
};

__global__ void __launch_bounds__(join_threads)
    invert_norm(const std::int64_t* words_of_blocks, int blocks, double least_norm, InverseNorm* inverse) {
  const std::int64_t* const words = joined_words(words_of_blocks, blocks);
  if (threadIdx.x != 0) return;
  inverse->squares = ExactSum();
  inverse->squares.add_words(words);
  inverse->value = 1 / std::max(std::sqrt(inverse->squares.value()), least_norm);
}

template <class S> struct TimesInverse {
  const InverseNorm* norm;
  __device__ S operator()(S x) const { return static_cast<S>(norm->value) * x; }
};

// Of numbers that are not negative the greater one has the greater bits, and NaN greater ones than infinity.

struct BlockGreatest {
  std::uint64_t bits[norm_threads];
};

/// The greatest of what threads give, in the first thread.
__device__ inline std::uint64_t greatest_of_block(std::uint64_t own) {
  auto& shared = block_memory<BlockGreatest>();
  shared.bits[threadIdx.x] = own;
  for (unsigned distance = norm_threads / 2; distance > 0; distance /= 2) {
    __syncthreads();
    if (threadIdx.x < distance)
      shared.bits[threadIdx.x] = std::max(shared.bits[threadIdx.x], shared.bits[threadIdx.x + distance]);
  }
  return shared.bits[0];
}

template <int width, class T>
__global__ void __launch_bounds__(norm_threads)
    greatest_of_blocks(const T* x, std::int64_t n, std::uint64_t* greatest) {
  constexpr std::uint64_t magnitude = ~std::uint64_t{0} >> 1;
  std::uint64_t most = 0;
  const auto take = [&](double at) { most = std::max(most, std::bit_cast<std::uint64_t>(at) & magnitude); };
  const std::int64_t first = (std::int64_t{blockIdx.x} * norm_threads + threadIdx.x) * width;
  for (std::int64_t i = first; i < n; i += std::int64_t{gridDim.x} * norm_threads * width) {
    if (i + width <= n) {
      const auto pack = read_pack<double, width>(x + i);
      MONOMORPH_UNROLL
      for (int at = 0; at < width; ++at) take(pack.at[at]);
    } else {
      MONOMORPH_KEEP_LOOP
      for (std::int64_t tail = i; tail < n; ++tail) take(converted<double>(x[tail]));
    }
  }
  const std::uint64_t of_block = greatest_of_block(most);
  if (threadIdx.x == 0) greatest[blockIdx.x] = of_block;
}

__global__ void __launch_bounds__(norm_threads)
    join_greatest(const std::uint64_t* greatest, int n, PartialGradientNorm* norm) {
  std::uint64_t own = threadIdx.x == 0 ? std::bit_cast<std::uint64_t>(norm->greatest) : 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += norm_threads) own = std::max(own, greatest[i]);
  const auto most = std::bit_cast<double>(greatest_of_block(own));
  if (threadIdx.x == 0) norm->greatest = most != most ? std::numeric_limits<double>::quiet_NaN() : most;
}

unsigned blocks_for(std::int64_t n, std::int64_t block_elements) {
  return static_cast<unsigned>(
      std::clamp((n + block_elements - 1) / block_elements, std::int64_t{1}, most_blocks(512)));
}

/// What blocks have summed up, in the workspace behind what else the caller needs there.
struct BlockSums {
  std::byte* reserved;
  std::int64_t* words;
  int blocks;
};

template <class Term> BlockSums summed_by_blocks(Queue queue, const View& x, std::int64_t reserved_bytes = 0) {
  const std::int64_t n = x.elements();
  const unsigned blocks = blocks_for(n, std::int64_t{norm_threads} * norm_group / group_threads);
  std::byte* const memory = workspace(queue, reserved_bytes + blocks * std::int64_t{sizeof(SharedWords)});
  auto* const words = reinterpret_cast<std::int64_t*>(memory + reserved_bytes);
  in_element_type(x.dtype, [&]<class T>() {
    launch(sum_blocks<Term, T>, {blocks, norm_threads}, queue, x.as<const T>(), n, starts_access(x.data), words);
  });
  return {memory, words, static_cast<int>(blocks)};
}

template <class Term> void add_sum(Queue queue, const View& x, PartialGradientNorm* norm) {
  const BlockSums sums = summed_by_blocks<Term>(queue, x);
  launch(join_sums, {1, join_threads}, queue, sums.words, sums.blocks, norm);
}

void take_greatest(Queue queue, const View& x, PartialGradientNorm* norm) {
  const std::int64_t n = x.elements();
  constexpr int width = 4;
  const unsigned blocks = blocks_for(n, norm_threads * width);
  auto* const greatest =
      reinterpret_cast<std::uint64_t*>(workspace(queue, blocks * std::int64_t{sizeof(std::uint64_t)}));
  in_element_type(x.dtype, [&]<class T>() {
    const auto kernel = starts_access(x.data) ? greatest_of_blocks<width, T> : greatest_of_blocks<1, T>;
    launch(kernel, {blocks, norm_threads}, queue, x.as<const T>(), n, greatest);
  });
  launch(join_greatest, {1, norm_threads}, queue, greatest, static_cast<int>(blocks), norm);
}

}  // namespace

void add_to_norm(Queue queue, View x, GradientNorm order, PartialGradientNorm* norm) {
  const KernelSpan span(Work::optimizer, "add_to_norm", queue.stream);
  if (!x.present()) return;
  switch (order) {
    case GradientNorm::one:
      return add_sum<Magnitude>(queue, x, norm);
    case GradientNorm::two:
      return add_sum<Square>(queue, x, norm);
    case GradientNorm::infinity:
      return take_greatest(queue, x, norm);
  }
}

void divide_by_norm(Queue queue, View x, double least_norm, View y) {
  if (!x.present()) return;
  const BlockSums sums = summed_by_blocks<Square>(queue, x, sizeof(InverseNorm));
  auto* const inverse = reinterpret_cast<InverseNorm*>(sums.reserved);
  launch(invert_norm, {1, join_threads}, queue, sums.words, sums.blocks, least_norm, inverse);
  in_element_type(x.dtype, [&]<class X>() {
    if (y.dtype == DType::bf16)
      map_elements<float, BFloat16, X>(queue, TimesInverse<float>{inverse}, y, x);
    else
      in_compute_type(y.dtype, [&]<class S>() { map_elements<S, S, X>(queue, TimesInverse<S>{inverse}, y, x); });
  });
}

}  // namespace monomorph::cuda
