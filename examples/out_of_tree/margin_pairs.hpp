#pragma once
#include <array>
#include <boost/hana/adapt_struct.hpp>
#include <cstdint>
#include <monomorph/core/field.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/policy/objective_policy.hpp>

namespace stranger {

struct MarginPairsHparams {
  monomorph::Field<double> margin{0.2, 0.0, 2.0, "by how much the text of its own pair must be the nearer one"};
};

/// Hinge loss of pairs (Frome et al. 2013, equation 1): of a pair (q, p), the sum of max(0, margin - q · p + q · n)
/// over the second texts n of all other pairs.
struct MarginPairs {
  using Hparams = MarginPairsHparams;
  using needs = monomorph::KernelSets<monomorph::kernels::OwnArithmetic>;
  static constexpr int texts_per_sample = 2;
  /// Of a pair, how many second texts of others are nearer than the margin allows.
  static constexpr std::array<monomorph::ObjectiveMetric, 1> metrics{
      {{"violations", monomorph::MetricKind::mean, monomorph::BestValue::lowest}}};

  /// The loss and the metric of each pair.
  static constexpr std::int64_t workspace_elements(std::int64_t pairs) { return 2 * pairs; }
  /// With each pair of each rank four products, and at most four times a text that is added to a gradient.
  static constexpr double flops_per_sample(std::int64_t micro_batch, int ranks, std::int64_t width) {
    return 8 * 2.0 * static_cast<double>(micro_batch * ranks) * static_cast<double>(width);
  }

  template <class Queue> static void loss(Queue queue, const auto& embeddings, const Hparams& hparams) {
    const double margin = hparams.margin;
    each_sample(queue, embeddings, [margin](const auto& texts) {
      const std::int64_t own = texts.sample;
      double loss = 0, violations = 0;
      for (std::int64_t other = 0; other < texts.samples(); ++other) {
        if (other == own || !texts.is_present(other)) continue;
        const double excess = excess_of(texts, own, other, margin);
        if (excess > 0) {
          loss += excess, ++violations;
          add(texts, 0, 1, 1, other);
          add(texts, 0, -1, 1, own);
          add(texts, 1, -1, 0, own);
        }
        // In the loss of another pair, which may be of another rank, the second text of this one is among the others.
        if (texts.gradient(1) != nullptr && excess_of(texts, other, own, margin) > 0) add(texts, 1, 1, 0, other);
      }
      return std::array{loss, violations};
    });
  }

 private:
  /// How much nearer the second text of another pair is to the first one of a pair than the margin allows.
  static double excess_of(const auto& texts, std::int64_t pair, std::int64_t other, double margin) {
    const auto *q = texts.text(0, pair), *p = texts.text(1, pair), *n = texts.text(1, other);
    double excess = margin;
    for (std::int64_t i = 0; i < texts.width(); ++i)
      excess += static_cast<double>(q[i]) * (static_cast<double>(n[i]) - static_cast<double>(p[i]));
    return excess;
  }
  /// Adds a text, times a sign, to the gradient of text k of the sample.
  static void add(const auto& texts, std::int64_t k, int sign, std::int64_t text, std::int64_t of) {
    auto* const gradient = texts.gradient(k);
    if (gradient == nullptr) return;  // an evaluation
    for (std::int64_t i = 0; i < texts.width(); ++i) gradient[i] += static_cast<float>(sign) * texts.text(text, of)[i];
  }
};
static_assert(monomorph::ObjectivePolicy<MarginPairs>);

}  // namespace stranger

BOOST_HANA_ADAPT_STRUCT(stranger::MarginPairsHparams, margin);
