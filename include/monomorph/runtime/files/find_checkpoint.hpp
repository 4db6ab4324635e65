#pragma once
#include <string>

namespace monomorph::runtime {

/// The folder of a checkpoint, given itself, a folder of checkpoints, or a run folder: the latest one that is whole.
/// Later ones that are not are named on stderr.
/// @throws UsageError [RUN-03] if there is none; as latest_checkpoint
std::string find_checkpoint(const std::string& path);

}  // namespace monomorph::runtime
