#pragma once
#include "current_scaling.hpp"
#include "recipes.hpp"
#include "train/scaling/device_memory.hpp"
#include "train/scaling/step_prediction.hpp"
#include "train/scaling/strategies.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

namespace bench::published {

/// Calibration::elementwise, which depends on how a program runs its kernels.
struct Programs {
  double unfused = 0, fused = 0, monomorph = 0;
};
/// How much faster cuDNN's attention is than FlashAttention-2's on Hopper: 1.7 to 2.3 times. On Ampere they are taken
/// to be as fast as each other.
inline constexpr double cudnn_over_flash = 2;

/// A row of bench/scaling/published.csv, in its words.
struct PublishedRun {
  std::string model, gpu, network, sharding, recompute, program;
  int gpus_per_node = 8, gpus = 1;
  std::int64_t micro_batch = 0, micro_batches = 1;  ///< 0: assumed
};
struct Prediction {
  monomorph::train::StepPrediction step;
  std::int64_t micro_batch = 0;
  std::string recompute;
};

/// Of a micro-batch, where a source does not say: one sequence, or more up to so many.
inline constexpr std::int64_t assumed_tokens = 8192;

/// Says which names there are.
template <class Range, class Name>
std::runtime_error unknown(std::string_view what, std::string_view name, const Range& all, Name name_of) {
  std::string known;
  for (const auto& one : all) known += fmt::format("{}{}", known.empty() ? "" : ", ", std::invoke(name_of, one));
  return std::runtime_error(fmt::format("no {} \"{}\"; there are {}", what, name, known));
}
template <class Named> const Named& named(std::string_view what, const std::vector<Named>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Named::name);
  if (found == all.end()) throw unknown(what, name, all, &Named::name);
  return *found;
}
inline const monomorph::plan::PlannedRecipe& recipe_of(std::string_view model) {
  const auto& all = planned_recipes();
  const auto found = all.find(model);
  if (found == all.end()) throw unknown("model", model, all, [](const auto& entry) { return entry.first; });
  return found->second;
}

/// @param shared with rates of FlashAttention-2
inline monomorph::train::Calibration of_program(monomorph::train::Calibration shared, const Programs& programs,
                                                std::string_view program) {
  static constexpr std::string_view words[] = {"eager", "compiled", "fused", "monomorph"};
  if (std::ranges::find(words, program) == std::end(words)) throw unknown("program", program, words, std::identity{});
  const bool is_eager = program == "eager", is_own = program == "monomorph";
  shared.elementwise = is_eager ? programs.unfused : is_own ? programs.monomorph : programs.fused;
  const double over_flash = is_eager || program == "compiled" ? 1 : cudnn_over_flash;
  shared.attention_forward_on_hopper *= over_flash;
  shared.attention_backward_on_hopper *= over_flash;
  return shared;
}

inline monomorph::train::PlannedRun planned(const PublishedRun& row, const monomorph::plan::PlannedRecipe& recipe) {
  using namespace monomorph::train;
  PlannedRun run{.cluster = {find_gpu(row.gpu), find_network(row.network), row.gpus_per_node},
                 .ranks = row.gpus,
                 .micro_batch = row.micro_batch,
                 .micro_batches = row.micro_batches,
                 .strategy = {}};
  if (run.cluster.gpu == nullptr) throw unknown("GPU", row.gpu, gpu_specs(), &GpuSpec::name);
  const bool has_network = !row.network.empty() && row.network != "-";
  if (has_network && run.cluster.network == nullptr)
    throw unknown("network", row.network, network_specs(), &NetworkSpec::name);
  if (!has_network && row.gpus > row.gpus_per_node)
    throw std::runtime_error(fmt::format("no network between {} GPUs, {} of them a node", row.gpus, row.gpus_per_node));
  run.strategy.sharding = named("sharding", sharding_strategies(row.gpus, row.gpus_per_node), row.sharding).values;
  if (run.micro_batch == 0) run.micro_batch = std::max<std::int64_t>(1, assumed_tokens / recipe.trunk->context_length);
  return run;
}

/// Where a source does not say what is computed again, the least that lets the rank fit.
inline Prediction predicted(const PublishedRun& row, const monomorph::train::Calibration& calibration) {
  static const std::vector<std::pair<std::string, std::string>> policies{{"none", "KeepAll"},
                                                                         {"cheap", "RecomputeCheap"},
                                                                         {"half", "Fraction<1, 2>"},
                                                                         {"all", "EveryBlock"}};
  const monomorph::plan::PlannedRecipe& recipe = recipe_of(row.model);
  const monomorph::train::Calibration rounding = with_rounding(calibration, *recipe.trunk, row.model, row.program);
  monomorph::train::PlannedRun run = planned(row, recipe);
  for (const auto& [word, name] : policies) {
    const bool is_tried = row.recompute.empty() && word != "cheap";
    if (row.recompute != word && !is_tried) continue;
    run.strategy.checkpointing = named("checkpointing", monomorph::train::checkpointing_strategies(), name).values;
    Prediction found{predict(recipe, run, rounding), run.micro_batch, word};
    if (found.step.fits || !is_tried || word == "all") return found;
  }
  throw unknown("recomputation", row.recompute, policies, &std::pair<std::string, std::string>::first);
}

}  // namespace bench::published
