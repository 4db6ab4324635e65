#pragma once

#ifdef __CUDACC__
#define MONOMORPH_HOST_DEVICE __host__ __device__
#else
#define MONOMORPH_HOST_DEVICE
#endif

namespace monomorph::cuda {

/// The most terms of a sum: their addresses are a kernel's argument, which CUDA limits to 32 KiB.
inline constexpr int most_terms = 2048, pairwise_levels = 12;

/// term(0) + term(1) + … of n, joined as cpu::pairwise_sum joins them. On the host, too, where a test compares it.
template <class S, class Term> MONOMORPH_HOST_DEVICE S pairwise_total(int n, const Term& term) {
  S held[pairwise_levels];  // held[k] is of the last complete group of 2^k terms
  for (int i = 0; i < n; ++i) {
    S x = term(i);
    int level = 0;
    for (; (i >> level & 1) != 0; ++level) x = held[level] + x;
    held[level] = x;
  }
  int level = 0;
  while ((n >> level & 1) == 0) ++level;
  S sum = held[level];
  while (++level < pairwise_levels)
    if ((n >> level & 1) != 0) sum = held[level] + sum;
  return sum;
}

}  // namespace monomorph::cuda
