#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/records/input_list.hpp>

#include <fmt/format.h>

#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <set>

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

std::vector<std::string> matches_of(const std::string& pattern) {
  glob_t found{};
  const int outcome = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (outcome == GLOB_NOSPACE) throw std::bad_alloc();
  std::erase_if(paths, is_folder);
  std::ranges::sort(paths);  // by bytes: the same in every locale
  if (paths.empty())
    throw UsageError("DATA-74", in_quotes(pattern) + " stands for no file; check the pattern, or name the files");
  return paths;
}

/// The same for all ways to write a path. A pipe can be read only once, whatever it is called.
fs::path place_of(const std::string& path) {
  std::error_code unreadable;
  return fs::weakly_canonical(fs::absolute(path, unreadable), unreadable);
}

}  // namespace

std::vector<std::string> expand_inputs(const std::vector<std::string>& arguments) {
  std::vector<std::string> inputs;
  std::set<fs::path> places;
  for (const std::string& argument : arguments)
    for (const std::string& path : is_pattern(argument) ? matches_of(argument) : std::vector{argument})
      if (places.insert(place_of(path)).second) inputs.push_back(path);
  return inputs;
}

std::string name_of_inputs(const std::vector<std::string>& inputs) {
  return inputs.size() == 1 ? inputs.front() : fmt::format("{} and {} more", inputs.front(), inputs.size() - 1);
}

}  // namespace monomorph::data
