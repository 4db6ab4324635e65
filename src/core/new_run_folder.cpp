#include "core/new_run_folder.hpp"

#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <thread>

namespace monomorph {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    names.push_back(entry->path().filename().string());
  if (failure) throw std::system_error(failure);
  return names;
}

}  // namespace

NewRunFolder::NewRunFolder(const std::string& path, ErrorId id) try : path_(path), lock_(path_) {
  FolderLock::Attempt attempt;
  while ((attempt = lock_.attempt()).outcome == FolderLock::Outcome::unsure)
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  if (attempt.outcome == FolderLock::Outcome::in_use)
    throw UsageError(id, fmt::format("{} belongs to a process that has not ended ({}); name another folder",
                                     in_quotes(path_), to_text(attempt.owner)));
  before_ = names_in(path_);
  // Hidden are the lock's own files, and what network file systems keep of those that are open.
  if (std::ranges::any_of(before_, [](const std::string& name) { return !name.starts_with('.'); }))
    throw UsageError(id, fmt::format("there is something in {} already; name a folder that is to be made",
                                     in_quotes(path_)));
} catch (const std::system_error& failure) {
  throw_file_error("create the folder", path, failure.code().value());
}

/// Before the lock is given back, which removes the folder itself if it has made it.
NewRunFolder::~NewRunFolder() {
  if (is_kept_) return;
  try {
    for (const std::string& name : names_in(path_))
      if (std::ranges::find(before_, name) == before_.end()) fs::remove_all(fs::path(path_) / name);
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the failure that brought us here is reported
  }
}

}  // namespace monomorph
