#include <algorithm>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/runtime/machine/parallel.hpp>
#include "runtime/kernels/drawn_numbers.hpp"

namespace monomorph {
namespace random {
namespace {
using Key = std::array<std::uint32_t, 2>;
constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

constexpr std::array<std::uint32_t, 4> block(const Key& key, std::uint64_t index) {
  return philox({low(index), high(index), 0, 0}, key);
}

/// The four standard normal numbers of a block.
std::array<double, 4> box_muller(const std::array<std::uint32_t, 4>& words) {
  const NormalPair a = normal_pair(words[0], words[1]), b = normal_pair(words[2], words[3]);
  return {a.first, a.second, b.first, b.second};
}
std::array<double, 4> truncated(const std::array<std::uint32_t, 4>& words, double cutoff, double least) {
  std::array<double, 4> result;
  for (std::size_t i = 0; i < 4; ++i) result[i] = truncated_normal(words[i], cutoff, least);
  return result;
}

constexpr std::int64_t run = 256;  // elements drawn in fp64 before they are rounded to the view's dtype

/// Calls draw(first, n, values) for runs of elements of a contiguous view and rounds what it fills in.
template <class Draw> void fill_runs(const View& x, Draw draw) {
  constexpr std::int64_t runs_per_task = 64;
  const std::int64_t elements = x.elements(), per_task = run * runs_per_task;
  parallel_for((elements + per_task - 1) / per_task, [&](std::int64_t task) {
    double values[run];
    const std::int64_t end = std::min(elements, (task + 1) * per_task);
    for (std::int64_t first = task * per_task; first < end; first += run) {
      const std::int64_t n = std::min(run, end - first);
      draw(first, n, values);
      cpu::copy(cpu::Queue{}, View{reinterpret_cast<std::byte*>(values), DType::fp64, {1, n}},
                View{x.data + first * size_of(x.dtype), x.dtype, {1, n}});
    }
  });
}
}  // namespace

void normal(View x, const Stream& stream, std::uint64_t first, double std, double cutoff) {
  const Key key = key_of(stream);
  const double least = normal_below(-cutoff);
  fill_runs(x, [&](std::int64_t from, std::int64_t n, double* values) {
    std::uint64_t drawn = ~std::uint64_t{0};
    std::array<double, 4> four{};
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t element = first + static_cast<std::uint64_t>(from + i);
      if (element / 4 != drawn) {
        drawn = element / 4;
        const auto words = block(key, drawn);
        four = cutoff > 0 ? truncated(words, cutoff, least) : box_muller(words);
      }
      values[i] = four[element % 4] * std;
    }
  });
}

void symmetric_uniform(View x, const Stream& stream, std::uint64_t first, double half_width) {
  fill_runs(x, [&](std::int64_t from, std::int64_t n, double* values) {
    for (std::int64_t i = 0; i < n; ++i)
      values[i] = symmetric(uniform(stream, first + static_cast<std::uint64_t>(from + i)), half_width);
  });
}

void fill(View x, double value) {
  fill_runs(x, [value](std::int64_t, std::int64_t n, double* values) { std::fill_n(values, n, value); });
}

double uniform(const Stream& stream, std::uint64_t i) {
  const auto words = block(key_of(stream), i / 2);
  const std::size_t pair = i % 2 * 2;
  return unit_of_53_bits(words[pair], words[pair + 1]);
}

}  // namespace random

}  // namespace monomorph
