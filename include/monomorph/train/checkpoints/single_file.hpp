#pragma once
#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace monomorph::train {

/// What of a checkpoint goes into a file.
enum class TensorsToWrite { all, weights };

/// The names of a checkpoint's parameters: all but the optimiser's state. That is "moment1.<name>", or another prefix,
/// where there is a tensor <name> as well.
std::vector<std::string> weight_names(const runtime::CheckpointReader& checkpoint);

struct WrittenFile {
  std::int64_t n_tensors = 0;
  std::uint64_t n_bytes = 0;  ///< of tensors
};

/// Writes the tensors, each in one piece however many ranks saved it, into one safetensors file, in memory that is
/// bounded. The file is there complete or not at all.
/// @throws as CheckpointReader, as AtomicFile; [CHECKPOINT-35] after a signal
WrittenFile write_consolidated(runtime::CheckpointReader& checkpoint, TensorsToWrite which, const std::string& path);

/// The same into a file that torch.load(path, weights_only=True) reads: a dictionary from names to tensors.
WrittenFile write_torch_file(runtime::CheckpointReader& checkpoint, TensorsToWrite which, const std::string& path);

/// Checks that a file or folder may be made at `output` out of these checkpoints.
/// @throws UsageError [CHECKPOINT-30] there is something; [CHECKPOINT-31] it lies in one of the checkpoints
void check_output(const std::string& output, const std::vector<std::string>& checkpoints);

}  // namespace monomorph::train
