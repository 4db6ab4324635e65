#include "train/run_ownership.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/train/run_folder.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>

namespace monomorph::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_attempts{20};
/// `check` takes the folders for some milliseconds: a start that meets it just waits.
constexpr std::chrono::milliseconds shortest_wait{300};

struct NamedFolder {
  const char* field;
  std::string path;
};

/// In an order that depends on the folders alone: two runs that each wait for what the other one has would wait for
/// ever.
std::vector<NamedFolder> folders_of(const Hparams& hparams) {
  namespace fs = std::filesystem;
  const auto canonical = [](const std::string& path) {
    std::error_code ignored;  // what can't be resolved is compared as it stands
    return (fs::weakly_canonical(path, ignored) / "").lexically_normal();
  };
  std::vector<NamedFolder> folders{{"run.output_dir", hparams.run.output_dir.value},
                                   {"checkpoint.directory", checkpoint_folder(hparams)}};
  const fs::path run = canonical(folders[0].path), checkpoints = canonical(folders[1].path);
  if (run == checkpoints) folders.pop_back();
  if (checkpoints < run) std::ranges::reverse(folders);
  return folders;
}

std::string words(const NamedFolder& folder) { return fmt::format("{} {}", folder.field, in_quotes(folder.path)); }

UsageError in_use(const NamedFolder& folder, const FolderOwner& owner) {
  return UsageError(
      fmt::format("[RUN-19] {} belongs to a run that has not ended ({}); end that one, choose another folder, or wait "
                  "for it by run.wait_for_folder=<seconds>",
                  words(folder), to_text(owner)));
}

Error wait_was_interrupted(const NamedFolder& folder, const FolderOwner& owner, const Hparams& hparams) {
  const auto code = static_cast<int>(hparams.failure.exit_code_when_interrupted.value);
  return Error(fmt::format("[RUN-20] signal {} ended the wait for {}, which belongs to a run that has not ended ({}); "
                           "nothing was started",
                           interrupting_signal(), words(folder), to_text(owner)),
               code == 0 ? ExitCode::failure : static_cast<ExitCode>(code));
}

FolderLock::Attempt attempt(const NamedFolder& folder, FolderLock& lock) {
  try {
    return lock.attempt();
  } catch (const std::system_error& failure) {
    if (failure.code() == std::errc::no_space_on_device || failure.code().value() == EDQUOT)  // it may be writable soon
      throw_file_error("write into the folder", folder.path, failure.code().value());
    throw UsageError(
        fmt::format("[RUN-02] {} can't be written: {}; choose another", words(folder), failure.code().message()));
  }
}

struct Patience {
  Clock::time_point until;
  const std::function<void(const std::string&)>& waits;  ///< is told now and then what for
};

/// Until it is this process's. Whether another process lives is found out in any case, however short the wait.
void take(const NamedFolder& folder, FolderLock& lock, const Hparams& hparams, const Patience& patience) {
  while (true) {
    const auto [outcome, owner] = attempt(folder, lock);
    if (outcome == FolderLock::Outcome::held) return;
    if (interrupting_signal() != 0) throw wait_was_interrupted(folder, owner, hparams);
    if (outcome == FolderLock::Outcome::in_use && Clock::now() > patience.until) throw in_use(folder, owner);
    patience.waits(fmt::format("{}, which {} has", words(folder), to_text(owner)));
    std::this_thread::sleep_for(between_attempts);
  }
}

/// @throws Error [RUN-21]
bool is_gone(const FolderLock& lock, FolderLock::State state) {
  if (state == FolderLock::State::taken)
    throw Error(
        fmt::format("[RUN-21] {} has been taken over by another run ({}): this one ends so as not to mix with it, and "
                    "what it trained since its last checkpoint is lost; give each run a folder of its own",
                    in_quotes(lock.folder()), to_text(lock.taker())));
  return state == FolderLock::State::gone;
}

}  // namespace

RunOwnership::RunOwnership(const Hparams& hparams, std::int64_t longest_wait,
                           const std::function<void(const std::string&)>& waits) {
  const Patience patience{Clock::now() + std::max<Clock::duration>(shortest_wait, std::chrono::seconds(longest_wait)),
                          waits};
  for (const NamedFolder& folder : folders_of(hparams))
    take(folder, *locks_.emplace_back(std::make_unique<FolderLock>(folder.path)), hparams, patience);
}

bool RunOwnership::noticed_loss() const {
  return std::ranges::any_of(locks_, [](const auto& lock) { return is_gone(*lock, lock->last_seen()); });
}

bool RunOwnership::lost() const {
  return std::ranges::any_of(locks_, [](const auto& lock) { return is_gone(*lock, lock->look()); });
}

void RunOwnership::take_again(const Hparams& hparams) {
  const std::vector<NamedFolder> folders = folders_of(hparams);
  for (std::size_t i = 0; i < locks_.size(); ++i) {
    if (!is_gone(*locks_[i], locks_[i]->look())) continue;
    locks_[i] = std::make_unique<FolderLock>(folders[i].path);
    take(folders[i], *locks_[i], hparams, {Clock::now() + shortest_wait, [](const std::string&) {}});
  }
}

namespace {

/// Says what a start waits for, once.
class WaitingNote {
 public:
  explicit WaitingNote(std::int64_t longest_wait) : longest_wait_(longest_wait) {}
  void say(const std::string& what_for) {
    if (said_ || longest_wait_ == 0) return;
    said_ = true;
    fmt::print("waiting for {}: for {} s at most\n", what_for, longest_wait_);
    std::fflush(stdout);
  }

 private:
  const std::int64_t longest_wait_;
  bool said_ = false;
};

/// By which rank 0 tells the others, whose patience for each word is failure.rank_timeout, that it still waits.
class WaitingWords {
 public:
  WaitingWords(const World& world, const Hparams& hparams)
      : world_(world), interval_(std::chrono::seconds(hparams.failure.rank_timeout.value) / 4.0) {}
  void still_waiting() {
    if (Clock::now() - last_ < interval_) return;
    last_ = Clock::now();
    say(waits);
  }
  void done() { say("done"); }
  void await_done() {
    while (world_.get(key(), 0) == waits) ++n_words_;
  }

 private:
  static constexpr const char* waits = "waits";
  std::string key() const { return fmt::format("run folder/{}", n_words_); }
  void say(const std::string& word) {
    world_.set(key(), word);
    ++n_words_;
  }

  const World& world_;
  const std::chrono::duration<double> interval_;
  Clock::time_point last_ = Clock::now();
  std::int64_t n_words_ = 0;
};

}  // namespace

std::optional<RunOwnership> own_together(const Hparams& hparams, const World& world) {
  WaitingWords words(world, hparams);
  if (world.rank() > 0) {
    words.await_done();
    return std::nullopt;
  }
  const std::int64_t longest_wait = hparams.run.wait_for_folder;
  WaitingNote note(longest_wait);
  try {
    std::optional<RunOwnership> ownership(std::in_place, hparams, longest_wait, [&](const std::string& what_for) {
      note.say(what_for);
      words.still_waiting();
    });
    words.done();
    return ownership;
  } catch (const Error&) {
    words.done();  // that this rank has failed is said elsewhere
    throw;
  }
}

}  // namespace monomorph::train
