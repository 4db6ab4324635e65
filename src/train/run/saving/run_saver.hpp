#pragma once
#include "train/run/folder/run_log.hpp"
#include "train/run/saving/staged_state.hpp"

#include <monomorph/runtime/files/background_save.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

namespace monomorph::train {

/// The checkpoints of a run. With checkpoint.async_save they are written behind the steps, one at a time: a step waits
/// while the state is copied, and no more. What all ranks must know of one in flight, whether some rank still writes,
/// is told in the step's own collective (StepSettings::saves); all functions but the first two are called by all ranks
/// together.
class RunSaver {
 public:
  /// @param staged memory to write checkpoints from behind the steps; null: the steps wait for them
  /// @param log rank 0's, or else null
  RunSaver(const RecipeProgram& recipe, const Hparams& hparams, const TrainFiles& train_files, TrainingStep& step,
           std::unique_ptr<StagedState> staged, Communicator& communicator, RunLog* log);

  /// What this rank says in a step: while a checkpoint is in flight, whether its thread writes; else whether it asks
  /// for one, because none has been saved for long or the run's folders were gone.   @param step that the run is at
  bool speaks_up(std::int64_t step);
  /// Whether a checkpoint is in flight: on all ranks alike.
  bool in_flight() const { return in_flight_.has_value(); }

  /// The state to be saved.
  struct Order {
    RunState state;  ///< but for best_evaluation: which checkpoints there are is known here
    runtime::Retention retention;
    std::optional<double> evaluation{};  ///< as of save_run
    bool again = false;                  ///< even if the checkpoint of its step is there
    std::optional<double> evaluated{};   ///< `evaluation`, on all ranks alike, if it is this run's own
  };
  /// Begins a checkpoint behind the steps, or saves one at once if that is how the run saves; first it waits for the
  /// one in flight. A failure is handled as checkpoint.on_failure says.
  void save(const Order& order);
  /// The same, and returns when it is there. A failure is always thrown: nothing that follows could make up for it.
  void save_last(const Order& order);
  /// After a step in which no rank was writing: the checkpoint in flight goes on to its next stage.
  void advance();
  /// Waits for the checkpoint in flight, if there is one. A failure is handled as checkpoint.on_failure says.
  void wait();
  /// The same before the run ends by another failure, which is the one to be told: this one is only noted.
  void wait_and_note();

  /// The run has gone back to the checkpoint of this step: those that it had saved of later steps are to be saved anew.
  void go_back(std::int64_t step) { last_saved_ = step; }

  /// Whether a state with this evaluation would be the best of those that are saved or being saved. One that could not
  /// be saved does not count. Alike on all ranks; never where the run does not keep its best.
  bool would_be_best(double evaluation) const;
  /// The run goes on from a checkpoint that knew this of the best.
  void set_best(std::optional<double> best) { best_ = best; }

  /// Whether a checkpoint is due because the folders of the last one were removed while it was written.
  bool must_repeat() const { return must_repeat_; }
  std::int64_t failed() const { return n_failed_; }  ///< checkpoints that were not saved, of a run that went on

 private:
  using SavedUnlessGoingOn = std::function<std::optional<runtime::SavedCheckpoint>()>;
  void settle(const SavedUnlessGoingOn& act);
  RunState with_best(const Order& order) const;
  void begin(const Order& order);
  void save_at_once(const Order& order);
  bool is_wanted(const Order& order);
  bool folders_restored(std::int64_t step);
  void forget_lost_best();
  void retry_in_restored_folders(std::int64_t step, const std::function<void()>& act);
  void tolerate_failure(std::int64_t step, const std::function<void()>& act);
  void note_failure(std::int64_t step, const Error& failure);
  void note_warnings(const std::vector<std::string>& warnings);
  std::function<void()> check_of_ownership() const;

  const RecipeProgram& recipe_;
  const Hparams& hparams_;
  const TrainFiles& train_files_;
  TrainingStep& step_;
  Communicator& communicator_;
  RunLog* const log_;
  const std::unique_ptr<StagedState> staged_;
  const std::optional<runtime::BestCounter> best_by_;
  std::optional<double> best_;  ///< by best_by_: of what is saved, not of what is in flight
  std::int64_t last_saved_ = -1, n_failed_ = 0;
  bool must_repeat_ = false;
  bool were_restored_ = false;  ///< the folders, between two steps, and no save has taken note of it yet
  std::chrono::steady_clock::time_point saved_at_ = std::chrono::steady_clock::now();
  struct Flight {
    template <class... Arguments>
    Flight(const RunState& state, Arguments&&... of_save)
        : step(state.step), best(state.best_evaluation), save(std::forward<Arguments>(of_save)...) {}
    const std::int64_t step;
    const std::optional<double> best;  ///< once it is saved
    runtime::BackgroundSave save;
  };
  std::optional<Flight> in_flight_;  // last, as its thread reads what is above
};

}  // namespace monomorph::train
