#include "core/folder_files.hpp"

#include "core/is_there.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace monomorph {
namespace {

namespace fs = std::filesystem;

/// @param path, folder without links and dots
bool lies_below(const fs::path& path, const fs::path& folder) {
  return std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
}

/// Of a folder in the hub's cache, which is a snapshot `models--…/snapshots/<commit>` or lies in one, the folder of the
/// files that its links lead to; empty of every other folder.
fs::path blobs_of(const fs::path& folder) {
  for (fs::path below = folder; below.has_relative_path(); below = below.parent_path()) {
    const fs::path snapshots = below.parent_path(), model = snapshots.parent_path();
    if (snapshots.filename() == "snapshots" && model.filename().string().starts_with("models--"))
      return model / "blobs";
  }
  return {};
}

/// @param target has no link in it: were `blobs` itself one, what it leads to would have another path
bool may_be_read(const fs::path& target, const fs::path& folder) {
  return !folder.empty() && (lies_below(target, folder) || target.parent_path() == blobs_of(folder));
}

}  // namespace

std::string path_in(const std::string& folder, std::string_view name) {
  const fs::path given = folder.empty() ? "." : folder, path = given / name;
  std::error_code failure, ignored;
  const fs::path target = fs::canonical(path, failure);
  if (failure) {
    if (!fs::is_symlink(fs::symlink_status(path, ignored)))
      return path.string();  // whoever reads it says what is wrong
    throw UsageError("FILE-07", fmt::format("{} is a symbolic link that can't be followed: {}; copy the folder again, "
                                            "or put the file in its place",
                                            in_quotes(path.string()), failure.message()));
  }
  if (const fs::path whole = fs::canonical(given, ignored); !may_be_read(target, whole))
    throw UsageError("FILE-07",
                     fmt::format("{} leads by a symbolic link to {}, outside of its folder, where nothing is "
                                 "read; if that file is meant, put a copy of it in the link's place",
                                 in_quotes(path.string()), in_quotes(target.string())));
  const fs::file_status status = fs::status(target, ignored);
  if (fs::exists(status) && !fs::is_regular_file(status) &&
      !fs::is_directory(status))  // a pipe is waited for, for ever
    throw UsageError("FILE-04", in_quotes(path.string()) + " is neither a file nor a folder; give a file");
  return path.string();
}

std::vector<std::string> files_in(const std::string& folder, std::string_view subfolder, std::string_view ending) {
  std::vector<std::string> names;
  const std::string path = path_in(folder, subfolder);
  if (!is_folder(path)) return names;
  std::error_code failure;
  for (fs::directory_iterator entry(path, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (name.starts_with('.') || !name.ends_with(ending)) continue;
    std::string within = fmt::format("{}/{}", subfolder, name);
    if (is_file(path_in(folder, within))) names.push_back(std::move(within));
  }
  if (failure) throw_file_error("read the folder", path, failure.value());
  std::ranges::sort(names);
  return names;
}

std::vector<std::string> missing_folders(const std::string& path) {
  std::vector<std::string> missing;
  for (fs::path folder = path; !folder.empty() && !is_there(folder.string()); folder = folder.parent_path()) {
    missing.push_back(folder.string());
    if (folder == folder.parent_path()) break;
  }
  return missing;
}

void create_folder(const std::string& path) {
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) throw_file_error("create the folder", path, failure.value());
}

}  // namespace monomorph
