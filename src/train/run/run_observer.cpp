#include "train/run/run_observer.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <exception>
#include <utility>

namespace monomorph::train {
namespace {

std::vector<ObservedTensor> observed(std::vector<StateTensor> tensors, HostPieces& pieces) {
  std::vector<ObservedTensor> observed;
  observed.reserve(tensors.size());
  for (StateTensor& tensor : tensors) observed.emplace_back(std::move(tensor), pieces);
  return observed;
}

/// Whatever was thrown, in one line.
std::string thrown_text() {
  std::string text = "it threw what is no std::exception";
  try {
    throw;
  } catch (const std::exception& failure) {
    text = failure.what();
  } catch (...) {  // NOLINT(bugprone-empty-catch): the text says so
  }
  std::ranges::replace(text, '\n', ' ');
  return text;
}

}  // namespace

RunObserver::RunObserver(std::string name, Owned<StepObserver> observer, ObserverRecords records,
                         const Communicator& communicator)
    : name_(std::move(name)),
      observer_(std::move(observer)),
      records_(std::move(records)),
      rank_(communicator.rank()),
      ranks_(communicator.size()),
      replica_(communicator.rank() / communicator.shards()) {}

std::optional<RunObserver> RunObserver::of(const RecipeProgram& recipe, const Hparams& hparams,
                                           const Communicator& communicator, std::int64_t last_step) {
  if (recipe.make_observer == nullptr) return std::nullopt;
  return RunObserver(recipe.observer, recipe.make_observer(hparams.observer.policy),
                     ObserverRecords(hparams.run.output_dir.value, communicator.rank(), last_step), communicator);
}

void RunObserver::see(std::int64_t step, Ticket ticket, double learning_rate, TrainingStep& training_step) {
  try {
    if (!observer_->wants(step)) return;
    const StepOutcome outcome = training_step.read(ticket);
    if (outcome.tokens == 0) return;
    HostPieces pieces(training_step);
    observer_->observe({.step = step,
                        .tokens = outcome.tokens,
                        .loss = outcome.mean(outcome.loss),
                        .learning_rate = learning_rate,
                        .gradient_norm = outcome.gradient_norm,
                        .gradient_scale = outcome.gradient_scale,
                        .parameters = observed(training_step.parameters(), pieces),
                        .gradients = observed(training_step.gradients(), pieces),
                        .rank = rank_,
                        .ranks = ranks_,
                        .replica = replica_},
                       records_);
  } catch (...) {
    throw Error("RUN-23", fmt::format("the observer {} failed in step {}: {}; mend it, or train by a recipe without it",
                                      name_, step, thrown_text()));
  }
  records_.write(step);
}

}  // namespace monomorph::train
