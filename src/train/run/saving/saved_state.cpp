#include "train/run/saving/saved_state.hpp"

#include "runtime/files/checkpoint_metadata.hpp"
#include "train/run/saving/spike_counters.hpp"
#include "train/step/loss_scale.hpp"

#include <monomorph/runtime/files/counter_names.hpp>

#include <fmt/format.h>
#include <cmath>
#include <limits>
#include <variant>

namespace monomorph::train {
namespace {

/// The numbers of a metadata.json by name.
class SavedNumbers {
 public:
  SavedNumbers(const runtime::CheckpointMetadata& metadata, const std::string& checkpoint)
      : counters_(metadata.counters), file_(checkpoint + "/" + runtime::checkpoint_metadata::file_name) {}

  [[noreturn]] void refuse(const std::string& name, const std::string& requirement) const {
    runtime::checkpoint_metadata::throw_damaged(file_, name + " must be " + requirement);
  }
  std::int64_t within(const std::string& name, std::int64_t value, std::int64_t least, std::int64_t most) const {
    if (value < least || value > most)
      refuse(name, fmt::format("from {} to {} beside the other numbers, and is {}", least, most, value));
    return value;
  }
  bool has(const std::string& name) const { return counters_.contains(name); }
  std::int64_t counter(const char* name, std::int64_t most) const {
    return within(full(name), number<std::int64_t>(name, "a whole number"), 0, most);
  }
  double finite(const std::string& name) const {
    const double value = number<double>(name, "a number with a decimal point");
    if (!std::isfinite(value)) refuse(full(name), fmt::format("finite, and is {}", value));
    return value;
  }
  double at_least_0(const char* name) const {
    const double value = finite(name);
    if (value < 0) refuse(full(name), fmt::format("at least 0, and is {}", value));
    return value;
  }
  double scale(const char* name) const {
    const double value = number<double>(name, "a number with a decimal point");
    if (!can_be_loss_scale(value)) refuse(full(name), fmt::format("a power of two that a run has, and is {}", value));
    return value;
  }

 private:
  static std::string full(const std::string& name) { return fmt::format("counters.{}", name); }
  template <class Number> Number number(const std::string& name, const char* kind) const {
    const auto found = counters_.find(name);
    const Number* const value = found == counters_.end() ? nullptr : std::get_if<Number>(&found->second);
    if (value == nullptr) refuse(full(name), kind);
    return *value;
  }

  const std::map<std::string, std::variant<std::int64_t, double>>& counters_;
  const std::string file_;
};

/// They are empty if the run that saved them did not watch for spikes.
RunningMoments moments(const SavedNumbers& saved, const MomentCounters& names, std::int64_t most) {
  if (!saved.has(names.count)) return {};
  return {saved.counter(names.count, most), saved.finite(names.mean), saved.at_least_0(names.variance)};
}

}  // namespace

RunState saved_state(const runtime::CheckpointMetadata& metadata, const std::string& checkpoint,
                     std::int64_t context_length, const std::optional<runtime::BestCounter>& best) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 2;  // leaves room to count on
  const std::int64_t largest_batch = BatchHparams{}.global_batch.max;
  const SavedNumbers saved(metadata, checkpoint);
  RunState state;
  state.step = saved.within("step", metadata.step, 0, most_steps);
  state.samples = saved.within("sample_counter", metadata.sample_counter, state.step, state.step * largest_batch);
  const bool fits = state.samples <= most / context_length;
  state.tokens = saved.within("tokens", metadata.n_tokens, 0, fits ? state.samples * context_length : most);
  state.updates = saved.counter("updates", state.step);
  state.skipped = saved.counter("skipped", state.step - state.updates);
  state.skipped_in_a_row = saved.counter("skipped_in_a_row", state.skipped);
  if (saved.has("loss_scale")) state.loss_scale = saved.scale("loss_scale");  // earlier versions saved neither
  if (best && saved.has(best->of_run())) state.best_evaluation = saved.finite(best->of_run());
  if (saved.has("steps_at_scale")) state.steps_at_scale = saved.counter("steps_at_scale", state.updates);
  state.spike_levels = {moments(saved, spike_loss_counters, state.step),
                        moments(saved, spike_norm_counters, state.step)};
  if (saved.has(rewinds_counter)) state.rewinds = saved.counter(rewinds_counter, most);
  if (saved.has(runtime::product_table_counter))
    state.product_table = saved.counter(runtime::product_table_counter, most);
  if (saved.has(runtime::teacher_counter)) state.teacher = saved.counter(runtime::teacher_counter, most);
  return state;
}

}  // namespace monomorph::train
