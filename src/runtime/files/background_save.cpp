#include <monomorph/runtime/files/background_save.hpp>

#include "checkpoint_in_progress.hpp"
#include "runtime/machine/background_pace.hpp"
#include "runtime/machine/behind.hpp"

#include <monomorph/runtime/comm/together.hpp>

#include <utility>

namespace monomorph::runtime {
namespace {

/// How long a rank waits for its thread before it asks the others again: far less than ranks wait for each other, and
/// long enough that asking costs nothing.
constexpr std::chrono::milliseconds between_questions{100};

template <class T> bool is_running(const std::future<T>& future, std::chrono::milliseconds after) {
  return future.valid() && future.wait_for(after) == std::future_status::timeout;
}

/// Begins to write this rank's file.
std::future<CheckpointFile> begin_to_write(const CheckpointInProgress& checkpoint, std::span<const PartToSave> parts,
                                           BackgroundPace& pace) {
  return behind([&checkpoint, parts, &pace] { return checkpoint.write(parts, [&pace] { pace.rest(); }); });
}

}  // namespace

BackgroundSave::BackgroundSave(const std::string& folder, CheckpointMetadata metadata, Communicator& communicator,
                               std::span<const PartToSave> parts, const Retention& retention,
                               std::function<void()> before_completing, ComputedBy steps)
    : communicator_(communicator),
      checkpoint_(std::make_unique<CheckpointInProgress>(folder, std::move(metadata), communicator, retention)),
      parts_(parts),
      before_completing_(std::move(before_completing)),
      pace_(std::make_unique<BackgroundPace>(steps)) {
  if (checkpoint_->has_leftovers())
    completing_ = behind([this] { checkpoint_->remove_leftovers(); });
  else
    writing_ = begin_to_write(*checkpoint_, parts_, *pace_);
}

BackgroundSave::~BackgroundSave() {
  pace_->hurry();
  if (!all_have_written_ && communicator_.size() > 1) checkpoint_->leave();
}

bool BackgroundSave::is_busy(std::chrono::milliseconds after) const {
  return is_running(writing_, after) || is_running(completing_, after);
}

std::optional<SavedCheckpoint> BackgroundSave::advance() {
  if (!all_have_written_ && !writing_.valid()) {  // leftovers were removed: nothing is written before they are gone
    checkpoint_->clear([this] { completing_.get(); });
    writing_ = begin_to_write(*checkpoint_, parts_, *pace_);
    return std::nullopt;
  }
  if (std::exchange(all_have_written_, true)) return checkpoint_->finish([this] { completing_.get(); });
  pace_->hurry();  // what the system gave no thread is written here, and the step waits for it
  checkpoint_->gather([this] { return writing_.get(); }, parts_);
  completing_ = behind([this] { checkpoint_->complete(before_completing_); });
  return std::nullopt;
}

SavedCheckpoint BackgroundSave::finish() {
  pace_->hurry();
  for (;;) {
    while (any_rank(communicator_, is_busy(between_questions))) {
    }
    if (auto saved = advance()) return std::move(*saved);
  }
}

}  // namespace monomorph::runtime
