#include "checkpoint_metadata.hpp"
#include "checkpoint_steps.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace monomorph::runtime {
namespace {

namespace filesystem = std::filesystem;

constexpr std::string_view step_prefix = "step_";
constexpr std::string_view partial_prefix = ".partial-";
constexpr std::string_view trash_prefix = ".trash-";
constexpr std::string_view branch_prefix = ".branches-from-";

std::string step_folder_name(std::int64_t step) { return fmt::format("{}{:08}", step_prefix, step); }

/// The step of a folder that save_checkpoint named so; nothing for any other name.
std::optional<std::int64_t> step_of(const std::string& name) {
  if (!name.starts_with(step_prefix)) return std::nullopt;
  std::int64_t step = 0;
  std::from_chars(name.data() + step_prefix.size(), name.data() + name.size(), step);
  return step >= 0 && step_folder_name(step) == name ? std::optional(step) : std::nullopt;
}

bool exists(const std::string& path) {
  std::error_code failure;
  return filesystem::exists(path, failure) || failure;  // if this can't be found out, opening it gives the error
}

std::vector<std::string> names_in(const std::string& folder) {
  std::error_code failure;
  std::vector<std::string> names;
  for (filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  if (failure) throw_file_error("list the folder", folder, failure.value());
  return names;
}

/// The steps that have a folder, the highest first, whether or not they can be loaded, or belong to this branch.
std::vector<std::int64_t> all_steps_in(const std::string& folder) {
  std::vector<std::int64_t> steps;
  for (const std::string& name : names_in(folder)) {
    if (const auto step = step_of(name)) steps.push_back(*step);
  }
  std::ranges::sort(steps, std::greater{});
  return steps;
}

/// The name of a mark that later steps are being set aside: while it exists, none of them counts.
std::string branch_mark(std::int64_t step) { return fmt::format("{}{}", branch_prefix, step_folder_name(step)); }

std::vector<std::string> branch_marks_in(const std::string& folder) {
  std::vector<std::string> marks = names_in(folder);
  std::erase_if(marks, [](const std::string& name) {
    return !name.starts_with(branch_prefix) || !step_of(name.substr(branch_prefix.size()));
  });
  return marks;
}

/// The steps that count, which are all but those that were being set aside when a run was killed.
std::vector<std::int64_t> steps_in(const std::string& folder) {
  std::vector<std::int64_t> steps = all_steps_in(folder);
  for (const std::string& mark : branch_marks_in(folder)) {
    const std::int64_t branches_from = *step_of(mark.substr(branch_prefix.size()));
    std::erase_if(steps, [&](std::int64_t step) { return step > branches_from; });
  }
  return steps;
}

std::string path_of(const std::string& folder, std::int64_t step) { return folder + "/" + step_folder_name(step); }

void rename_folder(const std::string& from, const std::string& to) {
  if (std::rename(from.c_str(), to.c_str()) != 0) throw_file_error("move a checkpoint to", to, errno);
}

void warn_of_kept(const std::string& path, const std::string& reason, std::vector<std::string>& warnings) {
  warnings.push_back(fmt::format("[CHECKPOINT-08] cannot delete {}: {}; delete it by hand", in_quotes(path), reason));
}

/// Gives a checkpoint a name by which no folder is ever taken for one, half-deleted or not.   @return where it is then
std::optional<std::string> move_to_trash(const std::string& folder, std::int64_t step,
                                         std::vector<std::string>& warnings) {
  const std::string path = path_of(folder, step);
  std::string trash = fmt::format("{}/{}{}", folder, trash_prefix, step_folder_name(step));
  if (std::rename(path.c_str(), trash.c_str()) == 0) return trash;
  warn_of_kept(path, std::generic_category().message(errno), warnings);
  return std::nullopt;
}

void discard(const std::string& folder, std::int64_t step, std::vector<std::string>& warnings) {
  if (const auto trash = move_to_trash(folder, step, warnings)) remove_or_warn(*trash, warnings);
}

/// The metadata of a checkpoint, if it can be loaded.
std::optional<CheckpointMetadata> loadable(const std::string& path) {
  try {
    return read_checkpoint_metadata(path);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The step of the best finite counter so far, if one is asked for.
class BestStep {
 public:
  explicit BestStep(std::optional<BestCounter> counter) : counter_(std::move(counter)) {}
  void look_at(const CheckpointMetadata& metadata) {
    if (!counter_) return;
    const auto found = metadata.counters.find(counter_->name);
    const double* const value = found == metadata.counters.end() ? nullptr : std::get_if<double>(&found->second);
    if (value == nullptr || !std::isfinite(*value) || (step_ && !counter_->is_better(*value, best_))) return;
    best_ = *value;
    step_ = metadata.step;
  }
  std::optional<std::int64_t> step() const { return step_; }

 private:
  std::optional<BestCounter> counter_;
  double best_ = 0;
  std::optional<std::int64_t> step_;
};

struct Sorted {
  std::vector<std::int64_t> kept, old;  ///< steps, the highest first, but `first` before them
};

/// Only what can be loaded counts as kept; what cannot is in neither list, and left for people to look at.
/// @param first a step that is kept in any case
Sorted sort_by_retention(const std::string& folder, std::int64_t first, const Retention& retention) {
  std::vector<std::int64_t> steps;
  BestStep best(retention.best);
  const auto consider = [&](std::int64_t step) {
    const auto metadata = loadable(path_of(folder, step));
    if (!metadata) return;
    steps.push_back(step);
    best.look_at(*metadata);
  };
  consider(first);
  for (const std::int64_t step : steps_in(folder))
    if (step != first) consider(step);
  Sorted sorted;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool is_kept = i == 0 || static_cast<std::int64_t>(i) < retention.latest ||
                         (retention.every && steps[i] % *retention.every == 0) || steps[i] == best.step();
    (is_kept ? sorted.kept : sorted.old).push_back(steps[i]);
  }
  return sorted;
}

constexpr std::string_view abandoned_prefix = "abandoned_";

std::string new_abandoned_folder(const std::string& folder) {
  for (int i = 1;; ++i) {
    const std::string path = fmt::format("{}/{}{}", folder, abandoned_prefix, i);
    if (::mkdir(path.c_str(), 0777) == 0) return path;
    if (errno != EEXIST) throw_file_error("create the folder", path, errno);
  }
}

[[noreturn]] void throw_no_checkpoint(const std::string& path) {
  throw Error("CHECKPOINT-01",
              fmt::format("there is no checkpoint at {}; {}", in_quotes(path),
                          has_checkpoints(path) ? "give one of the step_ folders in it" : "check the path"));
}

}  // namespace

std::string step_path(const std::string& folder, std::int64_t step) { return path_of(folder, step); }

std::string partial_path(const std::string& folder, std::int64_t step, std::int64_t token) {
  return fmt::format("{}/{}{}-{:08x}", folder, partial_prefix, step_folder_name(step), token);
}

std::vector<std::string> leftovers_in(const std::string& folder) {
  std::vector<std::string> paths;
  for (const std::string& name : names_in(folder))
    if (name.starts_with(partial_prefix) || name.starts_with(trash_prefix))
      paths.push_back(fmt::format("{}/{}", folder, name));
  return paths;
}

void remove_or_warn(const std::string& path, std::vector<std::string>& warnings) {
  std::error_code failure;
  filesystem::remove_all(path, failure);
  if (failure) warn_of_kept(path, failure.message(), warnings);
}

std::optional<std::string> put_in_place(const std::string& complete, const std::string& folder, std::int64_t step,
                                        std::vector<std::string>& warnings) {
  sync_folder(complete);
  const std::string target = path_of(folder, step);
  const bool replaces = exists(target);
  if (replaces && ::renameat2(AT_FDCWD, complete.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
    return complete;
  // Some network file systems cannot exchange. The old checkpoint of this step goes away first; earlier steps stay.
  const auto replaced = replaces ? move_to_trash(folder, step, warnings) : std::nullopt;
  rename_folder(complete, target);
  return replaced;
}

void discard_old(const std::string& folder, std::int64_t saved_step, const Retention& retention,
                 std::vector<std::string>& warnings) try {
  for (const std::int64_t step : sort_by_retention(folder, saved_step, retention).old) discard(folder, step, warnings);
} catch (const Error& failure) {  // the folder can't be looked at any more, but the checkpoint is complete
  warnings.push_back(failure.what());
}

void check_retention(const Retention& retention) {
  if (retention.latest < 1)
    throw UsageError("CHECKPOINT-06", fmt::format("at least 1 checkpoint must be kept, not {}", retention.latest));
}

PrunedCheckpoints prune_checkpoints(const std::string& folder, const Retention& retention, bool only_say) {
  check_retention(retention);
  PrunedCheckpoints pruned;
  const auto delete_one = [&](const std::string& path, const auto& remove) {
    const std::size_t n_warnings = pruned.warnings.size();
    if (!only_say) remove();
    if (pruned.warnings.size() == n_warnings) pruned.deleted.push_back(path);
  };
  const auto latest = latest_checkpoint(folder);
  if (!latest) return pruned;
  const auto step = *step_of(filesystem::path(*latest).filename().string());
  const Sorted sorted = sort_by_retention(folder, step, retention);
  for (const std::int64_t kept : sorted.kept) pruned.kept.push_back(path_of(folder, kept));
  for (const std::string& left : leftovers_in(folder))  // first, as an old checkpoint may need a name that one has
    delete_one(left, [&] { remove_or_warn(left, pruned.warnings); });
  for (const std::int64_t old : sorted.old)
    delete_one(path_of(folder, old), [&] { discard(folder, old, pruned.warnings); });
  return pruned;
}

CheckpointMetadata read_checkpoint_metadata(const std::string& path) {
  const std::string metadata_path = path + "/" + checkpoint_metadata::file_name;
  if (!exists(metadata_path)) throw_no_checkpoint(path);
  std::error_code unreadable;  // opening it gives the error
  if (!filesystem::is_regular_file(metadata_path, unreadable) && !unreadable)
    throw Error("CHECKPOINT-03", in_quotes(metadata_path) + " is no file; use another checkpoint");
  CheckpointMetadata metadata = checkpoint_metadata::from_json(read_text_file(metadata_path), metadata_path);
  for (const CheckpointFile& file : metadata.files) {
    const std::string file_path = path + "/" + file.name;
    std::error_code failure;
    const std::uintmax_t n_bytes = filesystem::file_size(file_path, failure);
    if (failure || n_bytes != file.n_bytes) {
      throw Error("CHECKPOINT-04",
                  fmt::format("{} must have {} bytes and {}; use another checkpoint", in_quotes(file_path),
                              file.n_bytes, failure ? failure.message() : fmt::format("has {}", n_bytes)));
    }
  }
  return metadata;
}

bool has_checkpoints(const std::string& folder) {
  std::error_code ignored;  // what can't be looked at will say so when a checkpoint is written there
  return filesystem::is_directory(folder, ignored) && !steps_in(folder).empty();
}

std::optional<std::string> set_aside_later(const std::string& folder, std::int64_t step) {
  if (!has_checkpoints(folder)) return std::nullopt;
  std::vector<std::int64_t> later = all_steps_in(folder);
  std::erase_if(later, [&](std::int64_t other) { return other <= step; });
  std::optional<std::string> aside;
  if (!later.empty()) {
    write_text_file(folder + "/" + branch_mark(step), "");
    aside = new_abandoned_folder(folder);
    for (const std::int64_t other : later) rename_folder(path_of(folder, other), path_of(*aside, other));
    sync_folder(*aside);
    sync_folder(folder);
  }
  for (const std::string& mark : branch_marks_in(folder)) filesystem::remove(folder + "/" + mark);
  return aside;
}

bool was_set_aside(const std::string& checkpoint) {
  std::error_code ignored;  // what can't be resolved is not there
  const filesystem::path parent = filesystem::canonical(checkpoint, ignored).parent_path();
  return parent.filename().string().starts_with(abandoned_prefix);
}

std::optional<std::string> latest_checkpoint(const std::string& folder, std::vector<std::string>* skipped,
                                             std::optional<std::int64_t> before) {
  if (!exists(folder)) return std::nullopt;
  for (const std::int64_t step : steps_in(folder)) {
    if (before && step >= *before) continue;
    const std::string path = path_of(folder, step);
    try {
      read_checkpoint_metadata(path);
      return path;
    } catch (const Error& failure) {
      if (failure.id() == "CHECKPOINT-02") throw;
      if (skipped != nullptr) skipped->push_back(failure.what());
    }
  }
  return std::nullopt;
}

}  // namespace monomorph::runtime
