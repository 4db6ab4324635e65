#pragma once
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/most_blocks.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/launch/philox_words.hpp"
#include "runtime/cuda/layers/first_values.hpp"
#include "runtime/kernels/drawn_numbers.hpp"

#include <monomorph/core/extremes.hpp>

#include <bit>
#include <concepts>

/// The kernel that draws elements. A thread takes those of one Philox counter.
namespace monomorph::cuda {
namespace {

constexpr unsigned draw_threads = 128;

struct DrawKey {
  std::uint32_t key0, key1;
};
inline DrawKey draw_key(const random::Stream& stream) {
  const auto key = random::key_of(stream);
  return {key[0], key[1]};
}

__device__ inline PhiloxWords drawn_words(const DrawKey& key, std::uint64_t counter) {
  return philox_words(static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0, key.key0,
                      key.key1);
}

/// Whether an element is the same wherever within ± error of x its number lies: rounding has an order.
template <class T> __device__ bool is_decided(double x, double error) {
  using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>;
  return std::bit_cast<Bits>(converted<T>(x - error)) == std::bit_cast<Bits>(converted<T>(x + error));
}

__device__ inline void add_to(const UndecidedList& list, std::int64_t element) {
  const std::uint32_t place = atomicAdd(list.count, 1u);
  if (place < list.capacity) list.elements[place] = static_cast<std::uint32_t>(element);
}

/// A pack of which a view holds the elements [at, at + width) that lie within [0, n).
template <int width, class T>
__device__ void write_within(const Pack<double, width>& pack, T* x, std::int64_t at, std::int64_t n) {
  const bool aligned = reinterpret_cast<std::uintptr_t>(x + at) % alignof(Pack<T, width>) == 0;
  if (at >= 0 && at + width <= n && aligned) return write_pack(pack, x + at);
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i)
    if (at + i >= 0 && at + i < n) x[at + i] = converted<T>(pack.at[i]);
}

/// x[i] = element first + i of a stream.
/// @tparam Numbers what gives the pack of a counter, and `error`, of each number: none if all devices have the same
template <class T, class Numbers>
__global__ void __launch_bounds__(draw_threads)
    draw_elements(Numbers numbers, std::uint64_t first, T* x, std::int64_t n, UndecidedList undecided) {
  constexpr int width = Numbers::width;
  const auto before = static_cast<std::int64_t>(first % width);
  const std::int64_t counters = (before + n + width - 1) / width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (auto i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < counters; i += step) {
    const Pack<double, width> pack = numbers(first / width + static_cast<std::uint64_t>(i));
    const std::int64_t at = i * width - before;
    if constexpr (Numbers::differs_by_device) {
      MONOMORPH_UNROLL
      for (int k = 0; k < width; ++k)
        if (at + k >= 0 && at + k < n && !is_decided<T>(pack.at[k], numbers.error)) add_to(undecided, at + k);
    }
    write_within(pack, x, at, n);
  }
}

template <class T, class Numbers>
void start_drawing(Queue queue, const Numbers& numbers, std::uint64_t first, const View& x,
                   const UndecidedList& undecided) {
  constexpr std::int64_t per_block = std::int64_t{draw_threads} * Numbers::width;
  const std::int64_t blocks =
      smaller_of((x.elements() + Numbers::width + per_block - 1) / per_block, most_blocks(1 << 16));
  launch(draw_elements<T, Numbers>, {static_cast<unsigned>(blocks), draw_threads}, queue, numbers, first, x.as<T>(),
         x.elements(), undecided);
}

/// The numbers of random::normal.
template <bool truncates> struct NormalNumbers {
  static constexpr int width = 4;
  static constexpr bool differs_by_device = true;
  DrawKey key;
  double std, error, cutoff, least;

  NormalNumbers(const NormalRun& run, double margin)
      : key(draw_key(run.stream)),
        std(run.std),
        error(margin * run.std),
        cutoff(run.cutoff),
        least(random::normal_below(-run.cutoff)) {}

  __device__ Pack<double, width> operator()(std::uint64_t counter) const {
    const PhiloxWords words = drawn_words(key, counter);
    Pack<double, width> pack;
    if constexpr (truncates) {
      MONOMORPH_UNROLL
      for (int i = 0; i < width; ++i) pack.at[i] = random::truncated_normal(words.of[i], cutoff, least) * std;
    } else {
      MONOMORPH_UNROLL
      for (int i = 0; i < width; i += 2) {
        const random::NormalPair pair = random::normal_pair(words.of[i], words.of[i + 1]);
        pack.at[i] = pair.first * std;
        pack.at[i + 1] = pair.second * std;
      }
    }
    return pack;
  }
};

/// Calls f.operator()<T>() with the type of elements that the GPU draws.
template <class F> void in_drawn_type(DType dtype, F f) {
  switch (dtype) {
    case DType::fp32:
      return f.template operator()<float>();
    case DType::bf16:
      return f.template operator()<BFloat16>();
    case DType::fp16:
      return f.template operator()<Half>();
    case DType::fp64:
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      __builtin_trap();
  }
}

/// Calls f(numbers) with those of a run.
template <class F> void with_normal_numbers(const NormalRun& run, double margin, F f) {
  if (run.cutoff > 0)
    f(NormalNumbers<true>(run, margin));
  else
    f(NormalNumbers<false>(run, margin));
}

}  // namespace
}  // namespace monomorph::cuda
