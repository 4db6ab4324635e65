#pragma once
#include <string>

namespace monomorph::runtime {

/// Finds a checkpoint's folder from that folder itself, from a folder of checkpoints or from a run folder. Of several
/// the latest complete one is taken; later ones that are damaged are named on stderr.
/// @throws UsageError [RUN-03] if there is none; as latest_checkpoint
std::string find_checkpoint(const std::string& path);

}  // namespace monomorph::runtime
