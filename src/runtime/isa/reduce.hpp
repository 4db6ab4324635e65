#pragma once
#include <cstdint>
#include <cstring>
#include "runtime/isa/vector_math.hpp"

// Sums and maxima over a run of elements. Partial results live in 64 bytes' worth of lanes on every instruction set, so
// the order of a sum is the same on all of them.
namespace monomorph::cpu::MONOMORPH_ISA {

inline constexpr int sum_bytes = 64;
template <class S> using SumLanes = Lanes<S, sum_bytes>;

/// Passed to the term of a sum: loads one element, or a vector of them, from index i on.
template <class V> struct At {
  std::int64_t i;
  template <class S> [[gnu::always_inline]] V operator()(const S* values) const {
    V loaded;
    std::memcpy(&loaded, values + i, sizeof loaded);
    return loaded;
  }
};

/// The sum of term(at) over n elements, where term reads its operands as at(pointer).
template <class S, class F> [[gnu::always_inline]] static inline S sum(std::int64_t n, F term) {
  constexpr std::int64_t width = lane_count<S, sum_bytes>;
  SumLanes<S> even{}, odd{};
  std::int64_t i = 0;
  for (; i + 2 * width <= n; i += 2 * width) {
    even += term(At<SumLanes<S>>{i});
    odd += term(At<SumLanes<S>>{i + width});
  }
  S total = 0;
  even += odd;
  for (std::int64_t lane = 0; lane < width; ++lane) total += even[lane];
  for (; i < n; ++i) total += term(At<S>{i});
  return total;
}

/// The greatest of n values, NaN apart, and `start`.
template <class S> [[gnu::always_inline]] static inline S greatest(const S* values, std::int64_t n, S start) {
  constexpr std::int64_t width = lane_count<S, sum_bytes>;
  SumLanes<S> most = SumLanes<S>{} + start;
  std::int64_t i = 0;
  for (; i + width <= n; i += width) {
    const SumLanes<S> next = At<SumLanes<S>>{i}(values);
    most = next > most ? next : most;
  }
  S result = start;
  for (std::int64_t lane = 0; lane < width; ++lane) result = most[lane] > result ? most[lane] : result;
  for (; i < n; ++i) result = values[i] > result ? values[i] : result;
  return result;
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
