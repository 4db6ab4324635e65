#include "commands.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/folder_lock.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/counter_names.hpp>
#include <monomorph/runtime/files/find_checkpoint.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <memory>
#include <system_error>
#include <thread>

namespace monomorph::tools {
namespace {

/// Has the folder until the lock goes, so that no run saves there meanwhile.
/// @throws [CHECKPOINT-34] a run has it
void take(FolderLock& lock) try {
  FolderLock::Attempt attempt;
  while ((attempt = lock.attempt()).outcome == FolderLock::Outcome::unsure) {
    if (interrupting_signal() != 0) throw Error("CHECKPOINT-35", "interrupted; nothing was written");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  if (attempt.outcome == FolderLock::Outcome::in_use)
    throw Error("CHECKPOINT-34", fmt::format("{} belongs to a run that has not ended ({}) and deletes old checkpoints "
                                             "itself; prune it when the run has ended, or use --dry-run",
                                             in_quotes(lock.folder()), to_text(attempt.owner)));
} catch (const std::system_error& failure) {
  throw_file_error("write into the folder", lock.folder(), failure.code().value());
}

struct Prune {
  std::string folder;
  int keep_last = 0;
  std::optional<std::int64_t> keep_every;
  bool keep_best = false, dry_run = false;

  void run() const {
    const std::string checkpoints = runtime::find_checkpoint_folder(folder);
    FolderLock lock(checkpoints);
    if (!dry_run) take(lock);
    const runtime::Retention retention{.latest = keep_last, .every = keep_every, .best = best_in(checkpoints)};
    const runtime::PrunedCheckpoints pruned = runtime::prune_checkpoints(checkpoints, retention, dry_run);
    for (const std::string& path : pruned.deleted) say("{} {}\n", dry_run ? "would delete" : "deleted", path);
    for (const std::string& path : pruned.kept) say("{} {}\n", dry_run ? "would keep" : "kept", path);
    for (const std::string& warning : pruned.warnings) write_error_line("warning: " + warning);
  }

 private:
  /// What the run itself goes by, which its latest checkpoint tells.
  std::optional<runtime::BestCounter> best_in(const std::string& checkpoints) const {
    if (!keep_best) return std::nullopt;
    const auto latest = runtime::latest_checkpoint(checkpoints);
    std::optional<runtime::BestCounter> best;
    if (latest) best = runtime::best_counter_of(runtime::read_checkpoint_metadata(*latest));
    return best ? best : runtime::BestCounter{runtime::evaluation_loss_counter};
  }
};

}  // namespace

void add_prune(CLI::App& program) {
  const auto prune = std::make_shared<Prune>();
  CLI::App* const command =
      program.add_subcommand("prune",
                             "Delete old checkpoints, as a run does by checkpoint.keep, keep_every and keep_best");
  command->add_option("RUN", prune->folder, "A run folder, or a folder of checkpoints")->required();
  add_number(*command, "--keep-last", prune->keep_last, "Keep so many of the latest", {1})->required();
  add_number(*command, "--keep-every", prune->keep_every, "Keep also those of the multiples of this step", {1});
  command->add_flag("--keep-best", prune->keep_best, "Keep also the best by the metric that the run goes by");
  command->add_flag("--dry-run", prune->dry_run, "Say what would be deleted, and delete nothing");
  command->callback([prune] { prune->run(); });
}

}  // namespace monomorph::tools
