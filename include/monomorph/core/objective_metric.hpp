#pragma once
#include <string_view>

namespace monomorph {

/// What an objective's sums of a metric, one for each micro-batch, make of a step or of an evaluation: their sum over
/// micro-batches and ranks, or that divided by how many tokens or samples count.
enum class MetricKind { mean, sum };

/// Which value of a metric is the best, if that is said.
enum class BestValue { unsaid, lowest, highest };

/// A number that an objective brings beside the loss.
struct ObjectiveMetric {
  std::string_view name;
  MetricKind kind = MetricKind::mean;
  BestValue best = BestValue::unsaid;
};
inline constexpr int most_objective_metrics = 4;

}  // namespace monomorph
