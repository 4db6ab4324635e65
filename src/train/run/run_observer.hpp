#pragma once
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/observe/step_observer.hpp>

#include <memory>
#include <optional>
#include <string>

namespace monomorph::train {

/// The recipe's observer on this rank, with what it is to be shown.
class RunObserver {
 public:
  /// Absent if the recipe has none.   @param last_step of the run so far
  static std::optional<RunObserver> of(const RecipeProgram& recipe, const Hparams& hparams,
                                       const Communicator& communicator, std::int64_t last_step);

  /// Shows the observer a step that is decided, if it wants it.   @param step counted from 1
  /// @throws Error [RUN-23] what the observer throws; [FILE-02], [FILE-03]
  void see(std::int64_t step, Ticket ticket, double learning_rate, TrainingStep& training_step);

 private:
  RunObserver(std::string name, Owned<StepObserver> observer, ObserverRecords records,
              const Communicator& communicator);

  std::string name_;
  Owned<StepObserver> observer_;
  ObserverRecords records_;
  int rank_, ranks_, replica_;
};

}  // namespace monomorph::train
