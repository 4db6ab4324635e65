#pragma once
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <string_view>
#include <utility>
#include <vector>

namespace monomorph::train {

/// What is reported of an objective besides its loss, and what it counts.
struct ObjectiveReport {
  std::vector<ObjectiveMetric> metrics;
  bool over_tokens = true;  ///< or samples
  std::string_view counted() const { return over_tokens ? "tokens" : "samples"; }
};

using NamedMetric = std::pair<std::string_view, double>;

/// The values of an objective's metrics.   @param count of the tokens or samples over which they were summed
inline std::vector<NamedMetric> metric_values(const ObjectiveReport& objective,
                                              const std::array<double, most_objective_metrics>& sums,
                                              std::int64_t count) {
  std::vector<NamedMetric> values;
  for (std::size_t i = 0; i < objective.metrics.size(); ++i) {
    const ObjectiveMetric& metric = objective.metrics[i];
    values.emplace_back(metric.name, metric.kind == MetricKind::mean ? sums[i] / static_cast<double>(count) : sums[i]);
  }
  return values;
}

}  // namespace monomorph::train
