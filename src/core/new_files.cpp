#include "core/new_files.hpp"

#include "core/folder_files.hpp"
#include "core/is_there.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace monomorph {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view hidden_prefix = ".new-files-";
constexpr const char* replaced_by_mkdtemp = "XXXXXX";  // by letters of a name that nobody has

/// @return a descriptor of the folder, which is locked; -1 if it is another process's, or gone
int locked_folder(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return -1;
  struct stat status {};
  // One that has been removed meanwhile has no links, but still lets itself be locked.
  if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && ::fstat(descriptor, &status) == 0 && status.st_nlink > 0)
    return descriptor;
  ::close(descriptor);
  return -1;
}

/// Where a file system has no locks, nothing is removed.
void remove_leftovers(const std::string& folder) {
  std::vector<std::string> leftovers;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    if (entry->path().filename().string().starts_with(hidden_prefix)) leftovers.push_back(entry->path().string());
  for (const std::string& leftover : leftovers) {
    const int descriptor = locked_folder(leftover);
    if (descriptor < 0) continue;
    fs::remove_all(leftover, failure);  // what stays is tried again next time
    ::close(descriptor);
  }
}

/// Relative to the folder, whatever lies below it that is no folder.
std::vector<fs::path> files_below(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure))
    if (!entry->is_directory()) files.push_back(entry->path().lexically_relative(folder));
  if (failure) throw_file_error("read the folder", folder, failure.value());
  return files;
}

/// Creates it and what is missing above it, and adds each to `created`.
void create_folders(const fs::path& folder, std::vector<fs::path>& created) {
  const std::vector<std::string> missing = missing_folders(folder.string());
  for (auto above = missing.rbegin(); above != missing.rend(); ++above) {
    create_folder(*above);
    created.emplace_back(*above);
  }
}

/// Adds to `created` what was not there before, before anything can go wrong with it.
void move_file(const fs::path& from, const fs::path& to, std::vector<fs::path>& created) {
  create_folders(to.parent_path(), created);
  const bool was_there = is_there(to.string());
  std::error_code failure;
  fs::rename(from, to, failure);
  if (failure) throw_file_error("write", to.string(), failure.value());
  if (!was_there) created.push_back(to);
  sync_folder(to.parent_path().string());
}

/// Holds others of this kind off a folder until the end of the scope, if they let it within a second.
class LookingAlone {
 public:
  explicit LookingAlone(const std::string& folder)
      : descriptor_(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    constexpr int most_attempts = 100;
    for (int attempt = 0; !succeeded_ && descriptor_ >= 0 && attempt < most_attempts; ++attempt) {
      if (attempt > 0) std::this_thread::sleep_for(std::chrono::milliseconds(10));
      succeeded_ = ::flock(descriptor_, LOCK_EX | LOCK_NB) == 0;
    }
  }
  LookingAlone(const LookingAlone&) = delete;
  ~LookingAlone() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  bool succeeded() const { return succeeded_; }

 private:
  int descriptor_;
  bool succeeded_ = false;
};

}  // namespace

NewFiles::NewFiles(std::string folder) : folder_(std::move(folder)), was_there_(is_there(folder_)) {
  create_folder(folder_);
  const LookingAlone until_locked(folder_);  // or another one could take the new folder for a leftover
  if (until_locked.succeeded()) remove_leftovers(folder_);
  place_ = (fs::path(folder_) / hidden_prefix).string() + replaced_by_mkdtemp;
  if (::mkdtemp(place_.data()) == nullptr) throw_file_error("write into the folder", folder_, errno);
  descriptor_ = locked_folder(place_);
}

NewFiles::~NewFiles() {
  std::error_code ignored;  // a failure that brought us here is the one to report
  fs::remove_all(place_, ignored);
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!was_there_) fs::remove(folder_, ignored);  // which leaves all but an empty one
}

void NewFiles::keep(std::string_view last) {
  std::vector<fs::path> files = files_below(place_), created;
  std::stable_partition(files.begin(), files.end(), [&](const fs::path& file) { return file != last; });
  try {
    for (const fs::path& file : files) move_file(fs::path(place_) / file, fs::path(folder_) / file, created);
  } catch (const Error&) {
    std::error_code ignored;
    for (auto target = created.rbegin(); target != created.rend(); ++target) fs::remove(*target, ignored);
    throw;
  }
}

}  // namespace monomorph
