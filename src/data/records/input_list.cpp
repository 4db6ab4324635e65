#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/records/input_list.hpp>

#include <fmt/format.h>

#include <dirent.h>
#include <glob.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <new>
#include <set>
#include <utility>

namespace monomorph::data {
namespace {

namespace fs = std::filesystem;

bool is_pattern(const std::string& argument) {
  std::error_code unreadable;  // opening it will say why
  return argument.find_first_of("*?[") != std::string::npos && !fs::exists(fs::symlink_status(argument, unreadable));
}

bool is_folder(const std::string& path) {
  std::error_code unreadable;
  return fs::is_directory(path, unreadable);
}

/// What a search could not look into.
struct Obstacle {
  std::string path;
  int error_number = 0;
};

/// Of the search that runs: glob() hands nothing of ours to what it calls.
thread_local Obstacle obstacle;

/// What is not there, is no folder, or is a link to nowhere holds no file that could be missed.
bool is_nowhere(int error_number) { return error_number == ENOENT || error_number == ENOTDIR || error_number == ELOOP; }

/// Keeps what stands in the way, and ends the search.
int keep_obstacle(const char* path, int error_number) {
  if (is_nowhere(error_number)) return 0;
  if (obstacle.error_number == 0) obstacle = {path, error_number};
  return 1;
}

int look_at(const char* path, struct stat* status) {
  const int outcome = ::lstat(path, status);
  if (outcome != 0) keep_obstacle(path, errno);
  return outcome;
}

/// Takes for a folder what cannot be told: it is asked about links whose names don't match, too, and enters those that
/// do, where it meets the obstacle.
int look_behind(const char* path, struct stat* status) {
  if (::stat(path, status) == 0) return 0;
  if (is_nowhere(errno)) return -1;
  status->st_mode = S_IFDIR;
  return 0;
}

/// glob() takes what it cannot look at for what is not there, unless it looks with functions that tell.
glob_t search_that_tells() {
  glob_t search{};
  search.gl_opendir = [](const char* path) -> void* { return ::opendir(path); };
  search.gl_readdir = [](void* folder) { return ::readdir(static_cast<DIR*>(folder)); };
  search.gl_closedir = [](void* folder) { ::closedir(static_cast<DIR*>(folder)); };
  search.gl_stat = look_behind;
  search.gl_lstat = look_at;
  return search;
}

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found = search_that_tells();
  const int outcome = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ALTDIRFUNC, keep_obstacle, &found);
  const Obstacle met = std::exchange(obstacle, {});
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (outcome == GLOB_NOSPACE) throw std::bad_alloc();
  if (met.error_number != 0) throw_file_error("look for files in", met.path, met.error_number);
  std::erase_if(paths, is_folder);
  std::ranges::sort(paths);  // by bytes: the same in every locale
  if (paths.empty())
    throw UsageError("DATA-74", in_quotes(pattern) + " stands for no file; check the pattern, or name the files");
  return paths;
}

/// The same for all ways to write a path, and for all names of a pipe, which can be read only once. A pipe of no name,
/// as shells make them, has a path that leads nowhere.
std::string place_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return fmt::format("{}:{}", status.st_dev, status.st_ino);
  std::error_code unreadable;
  const fs::path absolute = fs::absolute(path, unreadable), place = fs::weakly_canonical(absolute, unreadable);
  return (unreadable ? absolute : place).string();
}

}  // namespace

std::vector<std::string> expand_inputs(const std::vector<std::string>& arguments) {
  std::vector<std::string> inputs;
  std::set<std::string> places;
  for (const std::string& argument : arguments)
    for (const std::string& path : is_pattern(argument) ? matches_of(argument) : std::vector{argument})
      if (places.insert(place_of(path)).second) inputs.push_back(path);
  return inputs;
}

std::string name_of_inputs(const std::vector<std::string>& inputs) {
  return inputs.size() == 1 ? inputs.front() : fmt::format("{} and {} more", inputs.front(), inputs.size() - 1);
}

}  // namespace monomorph::data
