#include "train/run/saving/best_counter.hpp"

#include "train/describe/best_metric.hpp"
#include "train/run/folder/evaluation_metric.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <fmt/format.h>
#include <string_view>
#include <variant>

namespace monomorph::train {
namespace {

std::string_view best_set(const Hparams& hparams) {
  const NamedPaths& sets = hparams.data.evaluation.value;
  return sets.size() == 1 ? sets.front().name : hparams.checkpoint.best_by.value;
}

std::string text_of(const runtime::BestCounter& best) {
  return fmt::format("the {} {}", best.highest ? "highest" : "lowest", best.name);
}

}  // namespace

std::optional<runtime::BestCounter> best_counter(const RecipeProgram& recipe, const Hparams& hparams) {
  const CheckpointHparams& checkpoint = hparams.checkpoint;
  if (!checkpoint.keep_best.value) return std::nullopt;
  return runtime::BestCounter{.name = evaluation_metric(checkpoint.best_metric.value, best_set(hparams)),
                              .highest = best_value(recipe, hparams) == BestValue::highest};
}

std::optional<double> evaluation_of(const std::string& checkpoint, const runtime::BestCounter& best) try {
  const auto counters = runtime::read_checkpoint_metadata(checkpoint).counters;
  const auto found = counters.find(best.name);
  const double* const value = found == counters.end() ? nullptr : std::get_if<double>(&found->second);
  return value != nullptr ? std::optional(*value) : std::nullopt;
} catch (const Error&) {  // its run has just read all of it, and goes on where it has been taken away since
  return std::nullopt;
}

std::optional<std::string> note_other_best(const std::string& checkpoint, const RecipeProgram& recipe,
                                           const Hparams& hparams) {
  const auto best = best_counter(recipe, hparams);
  const auto before = runtime::best_counter_of(runtime::read_checkpoint_metadata(checkpoint));
  if (!best || !before || best->of_run() == before->of_run()) return std::nullopt;
  return fmt::format("the best checkpoint was that of {} so far, and is that of {} from here on", text_of(*before),
                     text_of(*best));
}

}  // namespace monomorph::train
