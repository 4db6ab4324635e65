#pragma once
#include <monomorph/core/extremes.hpp>
#include <monomorph/core/field.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/policy/objective_policy.hpp>

namespace monomorph::objective {

struct ContrastivePairsHparams {
  Field<double> temperature{0.05, 1e-4, 100.0,
                            "what similarities are divided by: the lower, the more the nearest count"};
  Field<bool> symmetric{true, "also compares each second text of a pair with all first ones, and averages both losses"};
};

/// Cross-entropy of finding, for the first text of a pair, its second one among those of all pairs that all ranks have
/// in the same micro-batch, by products of embeddings (InfoNCE: van den Oord et al. 2018, equation 4; in both
/// directions: Radford et al. 2021, figure 3), averaged over the pairs of the global batch. An evaluation compares the
/// pairs of one micro-batch of one rank, whatever the number of ranks.
struct ContrastivePairs {
  using Hparams = ContrastivePairsHparams;
  using needs = KernelSets<kernels::Contrast>;
  static constexpr int texts_per_sample = 2;
  /// The share of pairs whose second text is nearer to the first one than any other pair's.
  static constexpr std::array<ObjectiveMetric, 1> metrics{{{"accuracy", MetricKind::mean, BestValue::highest}}};

  /// So many pairs are compared with all others at a time: as many as make 4 Mi similarities, at least 64.
  static constexpr std::int64_t pairs_at_once(std::int64_t pairs) {
    return smaller_of(pairs, larger_of((std::int64_t{1} << 22) / pairs, 64));
  }
  /// Similarities, and of each pair at once its loss and its place.
  static constexpr std::int64_t workspace_elements(std::int64_t pairs) { return pairs_at_once(pairs) * (pairs + 2); }
  /// In each of both directions a rank makes the similarities of all pairs, and of them the gradients of its own
  /// embeddings: those that look, and those that are found.
  static constexpr double flops_per_sample(std::int64_t micro_batch, int ranks, std::int64_t width) {
    const double of_pair = 2.0 * static_cast<double>(micro_batch * ranks) * static_cast<double>(width);
    return 2 * (ranks + 2) * of_pair;
  }

  template <class Queue> static auto loss(Queue queue, const auto& embeddings, const Hparams& hparams) {
    return contrastive_loss(queue, embeddings,
                            {.temperature = hparams.temperature,
                             .symmetric = hparams.symmetric,
                             .pairs_at_once = pairs_at_once(embeddings.samples())});
  }
};

}  // namespace monomorph::objective

extern template void monomorph::append_fields(monomorph::objective::ContrastivePairsHparams&, FieldList&);
