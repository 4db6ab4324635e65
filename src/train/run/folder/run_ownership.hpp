#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/hparams/hparams.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// What moves a run's folders away may do so again while they are made anew, or written to for the first time after
/// that. So many times it is tried in all.
constexpr int most_attempts_in_moving_folders = 10;

/// Another run has taken the folders [RUN-21]: nothing may be written into them any more.
class RunTakenOver : public Error {
 public:
  using Error::Error;
};

/// Makes a run the only one that writes to run.output_dir and checkpoint.directory. Rank 0 holds it from before it
/// looks for a checkpoint until the run ends.
class RunOwnership {
 public:
  /// Takes both folders, which are created if they are not there; they are removed again if nothing is written into
  /// them. If another run has one, waits for it for so many seconds.
  /// @param waits called every now and then in the meantime, with what it waits for
  /// @throws UsageError [RUN-02] a folder can't be created or written to; [RUN-19] another run has it;
  ///   Error [FILE-02] the disk is full; [RUN-20] a signal ended the wait
  explicit RunOwnership(
      const Hparams& hparams, std::int64_t longest_wait = 0,
      const std::function<void(const std::string&)>& waits = [](const std::string&) {});

  RunOwnership(RunOwnership&&) noexcept;
  ~RunOwnership();

  /// Whether one of the folders is no longer there.   @throws RunTakenOver
  bool lost() const;
  /// Creates and locks again the folders that no longer exist.   @throws RunTakenOver; Error [RUN-02], [RUN-19],
  /// [FILE-02]
  void take_again(const Hparams& hparams);

 private:
  RunOwnership();

  struct Owned;
  std::vector<Owned> owned_;
};

/// Rank 0 takes the run's folders, for which it waits as long as run.wait_for_folder says, and the others wait with it.
/// @return on rank 0   @throws as RunOwnership, on rank 0
std::optional<RunOwnership> acquire_run_folders(const Hparams& hparams, const World& world);

}  // namespace monomorph::train
