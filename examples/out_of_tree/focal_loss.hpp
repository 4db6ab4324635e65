#pragma once
#include <algorithm>
#include <boost/hana/adapt_struct.hpp>
#include <cmath>
#include <cstdint>
#include <monomorph/core/field.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/policy/objective_policy.hpp>

namespace stranger {

struct FocalLossHparams {
  monomorph::Field<double> gamma{2.0, 1.0, 10.0, "how little tokens count that are predicted well"};
};

/// Focal loss (Lin et al. 2017, equation 4): (1 - p)^gamma times the cross-entropy, where p is the target's
/// probability.
struct FocalLoss {
  using Hparams = FocalLossHparams;
  using needs = monomorph::KernelSets<monomorph::kernels::OwnArithmetic>;
  static constexpr bool predicts_next_token = true;

  template <class Queue> static auto loss(Queue queue, const auto& logits, const Hparams& hparams) {
    const double gamma = hparams.gamma;
    return each_token(queue, logits, [gamma]<class S>(S* row, std::int64_t n, std::int32_t target) {
      const S most = *std::max_element(row, row + n);
      S total = 0;
      for (std::int64_t i = 0; i < n; ++i) total += std::exp(row[i] - most);
      const S log_p = row[target] - most - std::log(total), p = std::exp(log_p), miss = 1 - p;
      const S weight = std::pow(miss, static_cast<S>(gamma));
      // The gradient of the loss by log p, times those of log p by the logits.
      const S of_log_p = -weight + static_cast<S>(gamma) * p * std::pow(miss, static_cast<S>(gamma - 1)) * log_p;
      for (std::int64_t i = 0; i < n; ++i)
        row[i] = of_log_p * ((i == target ? S{1} : S{0}) - std::exp(row[i] - most) / total);
      return -weight * log_p;
    });
  }
};
static_assert(monomorph::ObjectivePolicy<FocalLoss>);

}  // namespace stranger

BOOST_HANA_ADAPT_STRUCT(stranger::FocalLossHparams, gamma);
