#include <monomorph/runtime/files/best_counter.hpp>

#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/counter_names.hpp>

#include <string_view>

namespace monomorph::runtime {
namespace {

constexpr std::string_view lowest_prefix = "lowest_", highest_prefix = "highest_";

/// The counter of checkpoints of whose values a run's counter has the best.
std::optional<BestCounter> counter_behind(std::string_view of_run) {
  for (const std::string_view prefix : {lowest_prefix, highest_prefix}) {
    if (!of_run.starts_with(prefix)) continue;
    const std::string_view name = of_run.substr(prefix.size());
    if (name.starts_with(evaluation_prefix)) return BestCounter{std::string(name), prefix == highest_prefix};
  }
  return std::nullopt;
}

}  // namespace

std::string BestCounter::of_run() const { return std::string(highest ? highest_prefix : lowest_prefix) + name; }

std::optional<BestCounter> best_counter_of(const CheckpointMetadata& metadata) {
  for (const auto& [counter, value] : metadata.counters)
    if (auto best = counter_behind(counter)) return best;
  return std::nullopt;
}

bool is_of_evaluation(const std::string& counter) {
  return counter.starts_with(evaluation_prefix) || counter_behind(counter).has_value();
}

}  // namespace monomorph::runtime
