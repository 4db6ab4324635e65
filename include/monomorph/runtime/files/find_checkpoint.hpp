#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::runtime {

/// Finds a checkpoint's folder from that folder itself, from a folder of checkpoints or from a run folder. Of several
/// the latest complete one is taken; later ones that are damaged are named on stderr.
/// @throws UsageError [RUN-03] if there is none; as latest_checkpoint
std::string find_checkpoint(const std::string& path);

/// The checkpoint of a step, damaged or not, in a folder of checkpoints or a run folder. Without a step, as
/// find_checkpoint.   @throws UsageError [RUN-03] there is none
std::string find_checkpoint(const std::string& path, std::optional<std::int64_t> step);

/// The folder of checkpoints that is `path`, or that lies in the run folder `path`.
/// @throws UsageError [RUN-03] there are no checkpoints
std::string find_checkpoint_folder(const std::string& path);

}  // namespace monomorph::runtime
