#pragma once
#include <boost/hana/adapt_struct.hpp>
#include <cmath>
#include <cstdint>
#include <monomorph/core/field.hpp>
#include <monomorph/policy/observer_policy.hpp>
#include <stdexcept>
#include <string>

namespace stranger {

struct WatchHparams {
  monomorph::Field<std::int64_t> every{1, 1, 1'000'000, "steps between those that are watched"};
  monomorph::Field<double> stop_above{1e9, 0.0, 1e9, "a loss that ends the run"};
};

/// Writes what a step looks like: its figures, and the sums of squares of what this rank holds of each tensor.
struct Watch {
  using Hparams = WatchHparams;

  bool wants(std::int64_t step) const { return step % hparams.every == 0; }
  void observe(const auto& step, auto& records) {
    if (step.loss > hparams.stop_above) throw std::runtime_error("the loss is " + std::to_string(step.loss));
    records.add("loss", step.loss);
    records.add("learning_rate", step.learning_rate);
    records.add("gradient_norm", step.gradient_norm);
    records.add("tokens", step.tokens);
    records.add("seen", ++seen);
    for (const auto& tensor : step.parameters) records.add("parameter " + text(tensor.name()), squares(tensor));
    for (const auto& tensor : step.gradients)
      records.add("gradient " + text(tensor.name()), squares(tensor) * step.gradient_scale * step.gradient_scale);
  }

  Hparams hparams{};
  int seen = 0;  ///< steps, since this process began

 private:
  static std::string text(std::string_view name) { return std::string(name); }
  static double squares(const auto& tensor) {
    double sum = 0;
    for (std::int64_t i = 0; i < tensor.size(); ++i) sum += tensor[i] * tensor[i];
    return sum;
  }
};
static_assert(monomorph::ObserverPolicy<Watch>);

}  // namespace stranger

BOOST_HANA_ADAPT_STRUCT(stranger::WatchHparams, every, stop_above);
