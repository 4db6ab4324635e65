#include <monomorph/runtime/files/find_checkpoint.hpp>

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/standard_streams.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <vector>

namespace monomorph::runtime {

std::string find_checkpoint(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;  // what can't be looked at isn't there
  if (fs::exists(fs::path(path) / "metadata.json", ignored)) return path;
  std::vector<std::string> broken;
  std::optional<std::string> latest;
  for (const fs::path& folder : {fs::path(path), fs::path(path) / "checkpoints"})
    if (!latest && fs::is_directory(folder, ignored)) latest = latest_checkpoint(folder.string(), &broken);
  for (const std::string& line : broken) write_error_line("warning: " + line);
  if (latest) return *latest;
  throw UsageError(
      "RUN-03",
      fmt::format("there is no {}checkpoint in {}; name a checkpoint, a folder of checkpoints or a run folder",
                  broken.empty() ? "" : "whole ", in_quotes(path)));
}

}  // namespace monomorph::runtime
