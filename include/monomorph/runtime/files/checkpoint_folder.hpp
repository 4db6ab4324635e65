#pragma once
#include <monomorph/runtime/files/best_counter.hpp>
#include <monomorph/runtime/files/safetensors.hpp>
#include <monomorph/spec/region_run.hpp>

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace monomorph {
class Communicator;
}

namespace monomorph::runtime {

/// One file of a checkpoint, as metadata.json lists it.
struct CheckpointFile {
  std::string name;
  std::uint64_t n_bytes = 0;
  std::uint64_t block_bytes = 1;         ///< of every block but the last, which may be shorter
  std::vector<std::uint64_t> checksums;  ///< XXH64 with seed 0 of each block
};

/// What metadata.json says. Random numbers are counter-based, so no generator has a state to save.
struct CheckpointMetadata {
  std::string fingerprint;        ///< of the recipe
  std::string state_fingerprint;  ///< of what in it shapes the state; empty in checkpoints of earlier versions
  std::map<std::string, std::string> recipe_facts;  ///< what the recipe is, by name; as above
  std::string recipe_description;                   ///< of the recipe, to be read by people
  std::string hyperparameters;  ///< JSON text; comes back with the same values, perhaps spaced differently
  std::int64_t step = 0;
  std::int64_t n_tokens = 0;        ///< trained on so far
  std::int64_t sample_counter = 0;  ///< the data position: samples drawn so far
  int n_ranks = 1;                  ///< that saved it, each a file
  /// Whatever else a resumed run needs. Comes back bit for bit, infinities and NaN (as one NaN) included.
  std::map<std::string, std::variant<std::int64_t, double>> counters;
  std::vector<CheckpointFile> files;  ///< one per rank of a copy, in rank order; filled in by save_checkpoint
  bool has_regions = false;  ///< files hold parts of regions that are not whole tensors; filled in by save_checkpoint
};

/// Which checkpoints stay in a folder: that which was saved last, and all that one of these says.
struct Retention {
  int latest = std::numeric_limits<int>::max();  ///< so many of the highest steps, at least 1
  std::optional<std::int64_t> every{};           ///< steps that are a multiple of it
  std::optional<BestCounter> best{};             ///< the one with the best of these; of equal ones the latest
};

struct SavedCheckpoint {
  std::string path;
  std::vector<std::string> warnings;  ///< one line each: what could not be deleted
};

/// The part of a tensor that a rank saves.
struct PartToSave {
  TensorToWrite tensor;  ///< dtype and shape are the whole tensor's, the data the part's
  RegionRun run;         ///< of a tensor of dims_of(tensor.shape)
};

/// Saves `folder`/step_<8 digits>, durably and atomically: it is there complete or not at all, and whatever happens
/// (full disk, kill -9, power loss) the checkpoints that were there before stay loadable. Then deletes the loadable
/// ones that `retention` does not keep, never the one just saved, and first what earlier crashes left. A checkpoint of
/// the same step is replaced. One run at a time may save to a folder. All ranks call this; each of those that hold a
/// copy together (Communicator::shards) writes a file, and rank 0 the rest.
/// @param metadata without files and number of ranks   @param parts this rank's; all ranks' make whole tensors
/// @param retention the disk needs room for one checkpoint more than it keeps
/// @param before_completing called on rank 0 when all is written, before the checkpoint appears and old ones are
///   deleted; may throw an Error, and then neither happens
/// @return what rank 0 has to say; the path everywhere
/// @throws [FILE-02] if the disk is full, [FILE-03]; [CHECKPOINT-06] for the retention; [CHECKPOINT-07] for metadata
/// that cannot
///   be saved; [CHECKPOINT-12] a part does not lie in its tensor; [RANK-08] another rank failed. Nothing is left behind
///   then.
[[nodiscard]] SavedCheckpoint save_checkpoint(
    const std::string& folder, CheckpointMetadata metadata, Communicator& communicator,
    std::span<const PartToSave> parts, const Retention& retention,
    const std::function<void()>& before_completing = [] {});

struct PrunedCheckpoints {
  std::vector<std::string> kept, deleted;  ///< paths, the highest step first, behind what cut-short saves have left
  std::vector<std::string> warnings;       ///< one line each: what could not be deleted
};

/// Deletes from `folder` what a save with this retention would delete now, but that the latest checkpoint takes the
/// place of the one just saved. Nobody else may save there meanwhile.
/// @param only_say says what would be deleted, and deletes nothing
/// @throws [CHECKPOINT-06] for the retention; [FILE-03]; [CHECKPOINT-02] the latest one is of a newer format
PrunedCheckpoints prune_checkpoints(const std::string& folder, const Retention& retention, bool only_say);

/// Reads and checks the metadata of one checkpoint, and that its files are there with the right sizes.
/// @throws [CHECKPOINT-01] there is none at `path`; [CHECKPOINT-02] a newer format; [CHECKPOINT-03] metadata.json is
///   damaged; [CHECKPOINT-04] a file is missing or has another size
CheckpointMetadata read_checkpoint_metadata(const std::string& path);

/// Whether there are checkpoints in `folder`, complete or damaged. What an interrupted save has left does not count.
bool has_checkpoints(const std::string& folder);

/// Moves the checkpoints of later steps, complete or damaged, into a new folder `abandoned_1`, `abandoned_2`, ... of
/// `folder`, because a run that resumes from an earlier step will save its own checkpoints of these steps. They are
/// kept there, but no longer count. A mark is written into the folder first: because of it none of them counts even if
/// the move is interrupted; the next call then completes the move.
/// @return that folder; absent if there is no later step   @throws [FILE-03]
std::optional<std::string> set_aside_later(const std::string& folder, std::int64_t step);

/// Whether a checkpoint lies where set_aside_later has moved it.
bool was_set_aside(const std::string& checkpoint);

/// The checkpoint of the highest step in `folder` that read_checkpoint_metadata accepts; nothing if there is none.
/// @param skipped if given, receives one line for each checkpoint of a higher step that is broken
/// @param before if given, only lower steps are looked at
/// @throws [CHECKPOINT-02] if a higher step has a newer format: going back silently would repeat work unasked
std::optional<std::string> latest_checkpoint(const std::string& folder, std::vector<std::string>* skipped = nullptr,
                                             std::optional<std::int64_t> before = std::nullopt);

}  // namespace monomorph::runtime
