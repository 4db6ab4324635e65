#pragma once
#include <monomorph/runtime/safetensors.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace monomorph::runtime {

/// One file of a checkpoint, as metadata.json lists it.
struct CheckpointFile {
  std::string name;
  std::uint64_t n_bytes = 0;
  std::uint64_t checksum = 0;  ///< XXH64 with seed 0
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
  int n_ranks = 1;
  /// Whatever else a resumed run needs. Comes back bit for bit, infinities and NaN (as one NaN) included.
  std::map<std::string, std::variant<std::int64_t, double>> counters;
  std::vector<CheckpointFile> files;  ///< one per rank in rank order; filled in by save_checkpoint
};

struct SavedCheckpoint {
  std::string path;
  std::vector<std::string> warnings;  ///< one line each: what could not be deleted
};

struct LoadedCheckpoint {
  CheckpointMetadata metadata;
  std::vector<SafetensorsFile> files;  ///< one per rank
};

/// Saves `folder`/step_<8 digits>, durably and atomically: it is there complete or not at all, and whatever happens
/// (full disk, kill -9, power loss) the checkpoints that were there before stay loadable. Then deletes the oldest
/// loadable ones beyond the last `keep`, never the one just saved, and first what earlier crashes left. A checkpoint of
/// the same step is replaced. One process at a time may save to a folder.
/// @param keep at least 1; the disk needs room for one more
/// @throws [FILE-02] if the disk is full, [FILE-03]; [CHECKPOINT-06] and [CHECKPOINT-09] for keep and ranks that cannot
///   be; [CHECKPOINT-07] for metadata that cannot be saved. Nothing is left behind then.
[[nodiscard]] SavedCheckpoint save_checkpoint(const std::string& folder, CheckpointMetadata metadata, int rank,
                                              std::span<const TensorToWrite> tensors, int keep);

/// Reads and checks the metadata of one checkpoint, and that its files are there with the right sizes.
/// @throws [CHECKPOINT-01] there is none at `path`; [CHECKPOINT-02] a newer format; [CHECKPOINT-03] metadata.json is
///   damaged; [CHECKPOINT-04] a file is missing or has another size
CheckpointMetadata read_checkpoint_metadata(const std::string& path);

/// Opens one checkpoint after reading every byte of it.
/// @throws what read_checkpoint_metadata throws; [CHECKPOINT-05] a file's checksum differs; SAFETENSORS errors
LoadedCheckpoint load_checkpoint(const std::string& path);

/// Whether there are checkpoints in `folder`, whole or not. What a save left that was killed is none.
bool has_checkpoints(const std::string& folder);

/// The checkpoint of the highest step in `folder` that read_checkpoint_metadata accepts; nothing if there is none.
/// @param skipped if given, receives one line for each checkpoint of a higher step that is broken
/// @throws [CHECKPOINT-02] if a higher step has a newer format: going back silently would repeat work unasked
std::optional<std::string> latest_checkpoint(const std::string& folder, std::vector<std::string>* skipped = nullptr);

}  // namespace monomorph::runtime
