#pragma once
#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/kernels/routing.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

/// What tests of a mixture's kernels share.
namespace monomorph::emulator {

struct MixtureSize {
  std::int64_t tokens, n_experts, top_k, capacity;
};
/// One token; fewer experts than a warp has lanes and more, of which some have no rows; full experts; experts with more
/// rows than a tile; pairs in several chunks.
inline constexpr MixtureSize mixture_sizes[] = {{1, 2, 1, 1}, {37, 5, 3, 9}, {13, 40, 2, 13}, {150, 3, 2, 120}};

/// A routing of its own memory. What no kernel has written is NaN, or -1.
class Routed {
 public:
  Routed(const MixtureSize& size, DType dtype, bool has_lse = true)
      : size_(size),
        has_lse_(has_lse),
        scores_(random_matrix(size.tokens, size.n_experts, 5), dtype),
        weights_(filled(size.tokens, size.top_k, std::nan("")), dtype),
        lse_(filled(1, size.tokens, std::nan("")), dtype),
        experts_(pairs(), -1),
        rows_(pairs(), -1),
        pairs_(pairs(), -1),
        counts_(static_cast<std::size_t>(size.n_experts), -1),
        begins_(counts_.size() + 1, -1) {}

  Routing routing() {
    return {.scores_ME = writable(scores_),
            .weights_Mk = writable(weights_),
            .lse_M = has_lse_ ? writable(lse_) : View{},
            .experts_Mk = experts_.data(),
            .rows_Mk = rows_.data(),
            .pairs_N = pairs_.data(),
            .counts_E = counts_.data(),
            .begins_E = begins_.data(),
            .tokens = size_.tokens,
            .n_experts = size_.n_experts,
            .top_k = size_.top_k};
  }
  /// Chosen and sorted by the CPU.
  static Routed sorted(const MixtureSize& size, DType dtype, RouterScores scores = RouterScores::softmax) {
    Routed routed(size, dtype, scores == RouterScores::softmax);
    cpu::choose_experts(cpu_queue, routed.routing(), scores, true, View{});
    cpu::sort_pairs(cpu_queue, routed.routing(), size.capacity);
    return routed;
  }
  Values scores() const { return values_of(scores_); }
  Values weights() const { return values_of(weights_); }
  Values lse() const { return has_lse_ ? values_of(lse_) : Values{}; }
  const std::vector<std::int32_t>& experts() const { return experts_; }
  /// Rows, pairs of the rows that there are, counts and begins.
  std::vector<std::vector<std::int32_t>> order() const {
    return {rows_, {pairs_.begin(), pairs_.begin() + begins_.back()}, counts_, begins_};
  }
  std::int64_t n_rows() const { return begins_.back(); }
  /// Rows of pairs for which there is memory.
  std::int64_t capacity() const { return std::ssize(pairs_); }

 private:
  std::size_t pairs() const { return static_cast<std::size_t>(size_.tokens * size_.top_k); }
  MixtureSize size_;
  bool has_lse_;
  Storage scores_, weights_, lse_;
  std::vector<std::int32_t> experts_, rows_, pairs_, counts_, begins_;
};

/// Of sums that have another order than on a CPU, and of exponentials.
inline double sum_tolerance(DType dtype) { return dtype == DType::fp64 ? 1e-14 : 1e-6; }

inline void for_each_mixture(const std::function<void(const MixtureSize&, DType)>& f) {
  for (const MixtureSize& size : mixture_sizes)
    for (const DType dtype : {DType::fp32, DType::fp64}) {
      CAPTURE(size.tokens, size.n_experts, size.top_k, size.capacity, name_of(dtype));
      f(size, dtype);
    }
}

}  // namespace monomorph::emulator
