#include "train/run/saving/run_saver.hpp"

#include "train/run/saving/best_counter.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/runtime/comm/rank_failure.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/train/run/folder/run_folder.hpp>

#include <fmt/format.h>
#include <utility>

namespace monomorph::train {

RunSaver::RunSaver(const RecipeProgram& recipe, const Hparams& hparams, const TrainFiles& train_files,
                   TrainingStep& step, std::unique_ptr<StagedState> staged, Communicator& communicator, RunLog* log)
    : recipe_(recipe),
      hparams_(hparams),
      train_files_(train_files),
      step_(step),
      communicator_(communicator),
      log_(log),
      staged_(std::move(staged)),
      best_by_(best_counter(recipe, hparams)) {}

/// By rank 0's clock and its view of the folders: what it says in a step is agreed on with the step. While a checkpoint
/// is in flight, its thread may be looking at the folders, and whatever is missing is found when it ends.
bool RunSaver::speaks_up(std::int64_t step) {
  if (in_flight_) return in_flight_->save.is_busy();
  if (log_ == nullptr) return false;
  const OptionalCount seconds = hparams_.checkpoint.every_seconds.value;
  const bool long_ago = seconds && std::chrono::steady_clock::now() - saved_at_ >= std::chrono::seconds(*seconds);
  const bool restored = log_->watch_folders(step);
  were_restored_ = were_restored_ || restored;
  return restored || long_ago;
}

void RunSaver::save(const Order& order) {
  wait();
  tolerate_failure(order.state.step, [&] {
    if (is_wanted(order)) staged_ ? begin(order) : save_at_once(order);
  });
}

void RunSaver::save_last(const Order& order) {
  wait();
  if (is_wanted(order)) save_at_once(order);
}

void RunSaver::advance() {
  settle([this] { return in_flight_->save.advance(); });
}

void RunSaver::wait() {
  if (in_flight_) settle([this] { return std::optional(in_flight_->save.finish()); });
}

void RunSaver::wait_and_note() {
  if (!in_flight_) return;
  const std::int64_t step = in_flight_->step;
  try {
    note_warnings(in_flight_->save.finish().warnings);
  } catch (const RankFailure&) {
    throw;
  } catch (const Error& failure) {
    note_failure(step, failure);
  }
  in_flight_.reset();
}

/// Takes what `act` makes of the checkpoint in flight. If that fails because the folders were removed, the state that
/// it had is gone, but there is a newer one to be saved.
void RunSaver::settle(const SavedUnlessGoingOn& act) {
  const std::int64_t step = in_flight_->step;
  tolerate_failure(step, [&] {
    try {
      const auto saved = act();
      if (!saved) return;
      best_ = in_flight_->best;
      in_flight_.reset();
      note_warnings(saved->warnings);
    } catch (const RankFailure&) {
      throw;
    } catch (const Error&) {
      in_flight_.reset();
      last_saved_ = -1;
      if (!folders_restored(step)) throw;
      forget_lost_best();
      must_repeat_ = true;
    }
  });
}

bool RunSaver::would_be_best(double evaluation) const {
  const std::optional<double>& best = in_flight_ ? in_flight_->best : best_;
  return best_by_ && (!best || best_by_->is_better(evaluation, *best));
}

/// The state as its checkpoint has it, while no other one is in flight. The best is that of the checkpoints that are
/// there and of this one, so that none names a value that no checkpoint has.
RunState RunSaver::with_best(const Order& order) const {
  RunState state = order.state;
  state.best_evaluation = order.evaluated && would_be_best(*order.evaluated) ? order.evaluated : best_;
  return state;
}

void RunSaver::begin(const Order& order) {
  staged_->copy();
  retry_in_restored_folders(order.state.step, [&] {
    const RunState state = with_best(order);
    in_flight_.emplace(state, checkpoint_folder(hparams_),
                       checkpoint_metadata(recipe_, hparams_, state, train_files_, communicator_.size(),
                                           order.evaluation),
                       communicator_, staged_->parts(), order.retention, check_of_ownership(), recipe_.computed_by());
  });
  saved_at_ = std::chrono::steady_clock::now();
}

void RunSaver::save_at_once(const Order& order) {
  retry_in_restored_folders(order.state.step, [&] {
    const RunState state = with_best(order);
    note_warnings(save_run(checkpoint_folder(hparams_), order.retention, recipe_, hparams_, state, train_files_, step_,
                           communicator_, check_of_ownership(), order.evaluation));
    best_ = state.best_evaluation;
  });
  saved_at_ = std::chrono::steady_clock::now();
}

/// Whether the checkpoint is not there yet, or no longer.
bool RunSaver::is_wanted(const Order& order) {
  const bool lost = folders_restored(order.state.step);
  if (lost) forget_lost_best();
  must_repeat_ = false;
  return std::exchange(last_saved_, order.state.step) != order.state.step || lost || order.again;
}

/// Whether rank 0 had to create some of the run's folders or files again, now or when it looked between two steps.
bool RunSaver::folders_restored(std::int64_t step) {
  return any_rank(communicator_, together(communicator_, "keep the run folder", [&] {
                    const bool restored = log_ && log_->restore_folders(step);
                    return std::exchange(were_restored_, false) || restored;
                  }));
}

/// What was saved may be gone with the folders, or only other files of the run.
void RunSaver::forget_lost_best() {
  const bool gone = together(communicator_, "look at the checkpoints",
                             [&] { return log_ && !runtime::has_checkpoints(checkpoint_folder(hparams_)); });
  if (any_rank(communicator_, gone)) best_.reset();
}

/// Repeats `act`, which fails on all ranks if on one, as long as the folders were removed while it wrote into them.
void RunSaver::retry_in_restored_folders(std::int64_t step, const std::function<void()>& act) {
  for (int attempts_left = most_attempts_in_moving_folders;; --attempts_left) {
    try {
      return act();
    } catch (const RankFailure&) {
      throw;
    } catch (const Error&) {
      if (attempts_left <= 1 || !folders_restored(step)) throw;
      forget_lost_best();
    }
  }
}

/// A folder that another run has taken, a rank that is lost, and a GPU that has failed, as it does from then on, are no
/// failures of a checkpoint alone.
void RunSaver::tolerate_failure(std::int64_t step, const std::function<void()>& act) {
  try {
    act();
  } catch (const RankFailure&) {
    throw;
  } catch (const RunTakenOver&) {
    throw;
  } catch (const Error& failure) {
    if (hparams_.checkpoint.on_failure.value == OnFailedSave::error || failure.id() == "GPU-02") throw;
    last_saved_ = -1;
    ++n_failed_;
    note_failure(step, failure);
    saved_at_ = std::chrono::steady_clock::now();
  }
}

/// Rank 0 notes it in the log. Another rank adds a line only if it failed itself: RANK-08 repeats a failure elsewhere.
void RunSaver::note_failure(std::int64_t step, const Error& failure) {
  const std::string line =
      fmt::format("warning: [CHECKPOINT-21] the checkpoint of step {} is not saved, and the run goes on: {}", step,
                  failure.what());
  if (log_)
    log_->note(line);
  else if (failure.id() != "RANK-08")
    write_error_line(line);
}

void RunSaver::note_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings)
    if (log_) log_->note("warning: " + warning);
}

std::function<void()> RunSaver::check_of_ownership() const {
  return [log = log_] {
    if (log) log->check_ownership();
  };
}

}  // namespace monomorph::train
