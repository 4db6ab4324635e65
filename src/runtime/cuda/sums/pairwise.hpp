#pragma once
#include "runtime/kernels/host_device.hpp"

#include <utility>

namespace monomorph::cuda {

/// The most terms of a sum: their addresses are a kernel's argument, which CUDA limits to 32 KiB.
inline constexpr int most_terms = 2048, pairwise_levels = 12;

/// Sums of complete groups of terms, as a binary counter counts: of 2^level terms for each level. What goes through the
/// levels is written for each of them and no loop, so that the sums lie in registers, which have no index.
/// @tparam X numbers, or packs of them
template <class X, int... level> class PairwiseSums {
 public:
  MONOMORPH_HOST_DEVICE void add(X x) {
    bool carries = true;
    ((carries = carries && carry<level>(x)), ...);
    ++count_;
  }
  MONOMORPH_HOST_DEVICE X total() const {
    X sum{};
    bool begun = false;
    ((begun = join<level>(sum, begun)), ...);
    return sum;
  }

 private:
  /// Whether there was a group of as many terms to join.
  template <int at> MONOMORPH_HOST_DEVICE bool carry(X& x) {
    if ((count_ >> at & 1) == 0) {
      groups_[at] = x;
      return false;
    }
    x = groups_[at] + x;
    return true;
  }
  template <int at> MONOMORPH_HOST_DEVICE bool join(X& sum, bool begun) const {
    if ((count_ >> at & 1) == 0) return begun;
    sum = begun ? groups_[at] + sum : groups_[at];
    return true;
  }

  X groups_[sizeof...(level)]{};
  int count_ = 0;
};

template <class X, int... level> PairwiseSums<X, level...> pairwise_sums(std::integer_sequence<int, level...>);

/// term(0) + term(1) + … of n < 2^levels, joined as cpu::pairwise_sum joins them. On the host, too, where a test
/// compares it.
template <class X, int levels, class Term> MONOMORPH_HOST_DEVICE X pairwise_total(int n, const Term& term) {
  decltype(pairwise_sums<X>(std::make_integer_sequence<int, levels>{})) sums;
  for (int i = 0; i < n; ++i) sums.add(term(i));
  return sums.total();
}

}  // namespace monomorph::cuda
