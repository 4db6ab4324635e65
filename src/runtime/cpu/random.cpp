#include <algorithm>
#include <cmath>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/random.hpp>
#include <monomorph/runtime/machine/parallel.hpp>
#include <numbers>

namespace monomorph {
namespace random {
namespace {
using Key = std::array<std::uint32_t, 2>;
constexpr std::uint32_t low(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
constexpr std::uint32_t high(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

constexpr std::array<std::uint32_t, 4> block(const Key& key, std::uint64_t index) {
  return philox({low(index), high(index), 0, 0}, key);
}

/// 32 random bits as a number in (0, 1), never 0 or 1.
double open_unit(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

double normal_below(double x) { return 0.5 * std::erfc(-x * std::numbers::sqrt2 / 2); }

/// The number below which a standard normal number lies with probability p < 1/2: the approximation 26.2.23 of
/// Abramowitz and Stegun, then two steps of Halley's method.
double lower_normal_quantile(double p) {
  const double t = std::sqrt(-2 * std::log(p));
  double x = (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308))) - t;
  for (int step = 0; step < 2; ++step) {
    const double newton = (normal_below(x) - p) * std::sqrt(2 * std::numbers::pi) * std::exp(0.5 * x * x);
    x -= newton / (1 + 0.5 * x * newton);
  }
  return x;
}
double normal_quantile(double p) { return p < 0.5 ? lower_normal_quantile(p) : -lower_normal_quantile(1 - p); }

/// The four standard normal numbers of a block.
std::array<double, 4> box_muller(const std::array<std::uint32_t, 4>& words) {
  std::array<double, 4> result;
  for (std::size_t pair = 0; pair < 4; pair += 2) {
    const double radius = std::sqrt(-2 * std::log(open_unit(words[pair])));
    const double angle = 2 * std::numbers::pi * open_unit(words[pair + 1]);
    result[pair] = radius * std::cos(angle);
    result[pair + 1] = radius * std::sin(angle);
  }
  return result;
}
std::array<double, 4> truncated(const std::array<std::uint32_t, 4>& words, double cutoff) {
  const double least = normal_below(-cutoff);
  std::array<double, 4> result;
  for (std::size_t i = 0; i < 4; ++i) {
    result[i] = std::clamp(normal_quantile(least + open_unit(words[i]) * (1 - 2 * least)), -cutoff, cutoff);
  }
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
  fill_runs(x, [&](std::int64_t from, std::int64_t n, double* values) {
    std::uint64_t drawn = ~std::uint64_t{0};
    std::array<double, 4> four{};
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint64_t element = first + static_cast<std::uint64_t>(from + i);
      if (element / 4 != drawn) {
        drawn = element / 4;
        const auto words = block(key, drawn);
        four = cutoff > 0 ? truncated(words, cutoff) : box_muller(words);
      }
      values[i] = four[element % 4] * std;
    }
  });
}

void symmetric_uniform(View x, const Stream& stream, std::uint64_t first, double half_width) {
  fill_runs(x, [&](std::int64_t from, std::int64_t n, double* values) {
    for (std::int64_t i = 0; i < n; ++i)
      values[i] = half_width * (2 * uniform(stream, first + static_cast<std::uint64_t>(from + i)) - 1);
  });
}

void fill(View x, double value) {
  fill_runs(x, [value](std::int64_t, std::int64_t n, double* values) { std::fill_n(values, n, value); });
}

double uniform(const Stream& stream, std::uint64_t i) {
  const auto words = block(key_of(stream), i / 2);
  const std::size_t pair = i % 2 * 2;
  const std::uint64_t bits = (static_cast<std::uint64_t>(words[pair]) << 32 | words[pair + 1]) >> 11;
  return static_cast<double>(bits) * 0x1p-53;
}

}  // namespace random

}  // namespace monomorph
