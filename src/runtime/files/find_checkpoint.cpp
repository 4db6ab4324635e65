#include <monomorph/runtime/files/find_checkpoint.hpp>

#include "core/is_there.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace monomorph::runtime {
namespace {
namespace fs = std::filesystem;
}  // namespace

std::string find_checkpoint(const std::string& path) {
  if (is_there((fs::path(path) / "metadata.json").string())) return path;
  std::vector<std::string> broken;
  std::optional<std::string> latest;
  for (const fs::path& folder : {fs::path(path), fs::path(path) / "checkpoints"})
    if (!latest && is_folder(folder.string())) latest = latest_checkpoint(folder.string(), &broken);
  for (const std::string& line : broken) write_error_line("warning: " + line);
  if (latest) return *latest;
  throw UsageError(
      "RUN-03",
      fmt::format("there is no {}checkpoint in {}; name a checkpoint, a folder of checkpoints or a run folder",
                  broken.empty() ? "" : "whole ", in_quotes(path)));
}

std::string find_checkpoint(const std::string& path, std::optional<std::int64_t> step) {
  if (!step) return find_checkpoint(path);
  const std::string name = fmt::format("step_{:08}", *step);
  for (const fs::path& folder : {fs::path(path), fs::path(path) / "checkpoints"})
    if (is_folder((folder / name).string())) return (folder / name).string();
  throw UsageError("RUN-03", fmt::format("there is no checkpoint of step {} in {}; name a folder of checkpoints or a "
                                         "run folder that has it",
                                         *step, in_quotes(path)));
}

std::string find_checkpoint_folder(const std::string& path) {
  for (const fs::path& folder : {fs::path(path), fs::path(path) / "checkpoints"})
    if (has_checkpoints(folder.string())) return folder.string();
  throw UsageError("RUN-03", fmt::format("there are no checkpoints in {}; name a folder of checkpoints or a run folder",
                                         in_quotes(path)));
}

}  // namespace monomorph::runtime
