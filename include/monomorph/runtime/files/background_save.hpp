#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/machine/computed_by.hpp>

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace monomorph::runtime {

class BackgroundPace;        // in src/runtime/machine
class CheckpointInProgress;  // in src/runtime/files

/// A checkpoint that is written behind the caller's back, by a thread on each rank; the same bytes as of
/// save_checkpoint, with the same guarantees. The threads talk to no other rank, so that ranks go on with their
/// collectives in the meantime: ranks learn from each other that all have written by what is_busy() says, which the
/// caller brings together, and then call advance(). Where the processor computes the steps, threads take little of it
/// until somebody waits for them.
/// One at a time may save to a folder.
class BackgroundSave {
 public:
  /// Agrees on a folder and begins to write. All ranks call it, with the arguments of save_checkpoint.
  /// @param parts stay as they are as long as this object lives
  /// @param before_completing called on a thread of rank 0   @throws as save_checkpoint, on all ranks
  BackgroundSave(const std::string& folder, CheckpointMetadata metadata, Communicator& communicator,
                 std::span<const PartToSave> parts, const Retention& retention, std::function<void()> before_completing,
                 ComputedBy steps = ComputedBy::cores);
  BackgroundSave(const BackgroundSave&) = delete;
  /// Waits for this rank's thread, which does not rest any more. A checkpoint that is not complete by then is given up.
  ~BackgroundSave();

  /// Whether this rank's thread is at work, or still is after so long.
  bool is_busy(std::chrono::milliseconds after = {}) const;
  /// To be called by all ranks when none is busy: all go on to the next stage.
  /// @return the checkpoint, if that was the last one; it must not be called again then
  /// @throws as save_checkpoint, on all ranks; nothing is left behind then, and it must not be called again
  std::optional<SavedCheckpoint> advance();
  /// Waits until it is complete. All ranks call it.   @throws as advance
  SavedCheckpoint finish();

 private:
  Communicator& communicator_;
  const std::unique_ptr<CheckpointInProgress> checkpoint_;
  const std::span<const PartToSave> parts_;
  const std::function<void()> before_completing_;
  const std::unique_ptr<BackgroundPace> pace_;
  bool all_have_written_ = false;
  std::future<CheckpointFile> writing_;  // last, as the destructors of these two wait for the thread
  std::future<void> completing_;
};

}  // namespace monomorph::runtime
