#pragma once
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace monomorph::runtime {

/// A checkpoint from its beginning until it appears in its folder, in stages. A stage begins when the one before is
/// done on all ranks. Those that only write talk to no other rank, so that a thread of their own may run them.
class CheckpointInProgress {
 public:
  /// Agrees on a new folder, which rank 0 creates.   @throws [CHECKPOINT-06], [FILE-02], [FILE-03], [RANK-08]
  CheckpointInProgress(std::string folder, CheckpointMetadata metadata, Communicator& communicator,
                       const Retention& retention);
  CheckpointInProgress(const CheckpointInProgress&) = delete;
  /// Removes what has not become a checkpoint, unless it was left.
  ~CheckpointInProgress();

  /// Whether earlier saves have left something, on all ranks alike: it is removed first, so that the disk need not have
  /// room for it beside what is written.
  bool has_leftovers() const { return has_leftovers_; }
  /// Removes it. Rank 0's: on others it does nothing.
  void remove_leftovers();
  /// All ranks call it, with what removes the leftovers, or waits for it.
  void clear(const std::function<void()>& removed);

  /// Writes this rank's file.   @param between_pieces called after every piece of its bytes
  CheckpointFile write(
      std::span<const PartToSave> parts, const std::function<void()>& between_pieces = [] {}) const;
  /// All ranks call it, with what gives the file that they have written.   @param parts that are in it
  void gather(const std::function<CheckpointFile()>& written, std::span<const PartToSave> parts);
  /// Makes it a checkpoint and deletes old ones. Rank 0's: on others it does nothing.
  void complete(const std::function<void()>& before_completing);
  /// All ranks call it, with what completes the checkpoint, or waits for it.
  SavedCheckpoint finish(const std::function<void()>& complete);

  /// Other ranks may still write there, and would miss the folder instead of a rank that is lost. The next save removes
  /// it.
  void leave() { is_created_ = false; }

 private:
  void create();
  void create_in_place_of_leftovers(int failure);
  void agree(std::int64_t token);
  void remove() noexcept;
  void leaving_when_a_rank_is_lost(const std::function<void()>& act);
  void add_files_of_ranks(const CheckpointFile& local, std::span<const PartToSave> parts);

  const std::string folder_;
  CheckpointMetadata metadata_;
  Communicator& communicator_;
  const Retention retention_;
  std::string path_;                    ///< of the folder that is filled
  bool is_created_ = false;             ///< by this rank, which removes it unless it becomes the checkpoint
  std::vector<std::string> leftovers_;  ///< rank 0's: paths of when the folder was this run's for certain
  bool has_leftovers_ = false;
  SavedCheckpoint saved_;
};

}  // namespace monomorph::runtime
