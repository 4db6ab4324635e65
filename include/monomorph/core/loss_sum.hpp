#pragma once
#include <array>
#include <cstdint>
#include <monomorph/core/objective_metric.hpp>

namespace monomorph {

/// Sums over the counted tokens, in fp64 and in the order of the rows.
struct LossSum {
  double loss = 0;                                       ///< nats
  std::int64_t tokens = 0;                               ///< or samples, of an objective over embeddings
  std::array<double, most_objective_metrics> metrics{};  ///< of the objective's, in their order

  /// Of the same objective, over more tokens.
  void add(const LossSum& more) {
    loss += more.loss;
    tokens += more.tokens;
    for (std::size_t i = 0; i < metrics.size(); ++i) metrics[i] += more.metrics[i];
  }
};

}  // namespace monomorph
