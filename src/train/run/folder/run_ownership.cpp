#include "train/run/folder/run_ownership.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/folder_lock.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/train/run/folder/run_folder.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <thread>

namespace monomorph::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds between_attempts{20};
/// The command `check` owns the folders for some milliseconds: a run that starts just then waits at least so long.
constexpr std::chrono::milliseconds shortest_wait{300};

struct NamedFolder {
  const char* field;
  std::string path;
};

std::string words(const NamedFolder& folder) { return fmt::format("{} {}", folder.field, in_quotes(folder.path)); }

UsageError in_use(const NamedFolder& folder, const FolderOwner& owner) {
  return UsageError(
      "RUN-19", fmt::format("{} belongs to a run that has not ended ({}); end that one, choose another folder, or wait "
                            "for it by run.wait_for_folder=<seconds>",
                            words(folder), to_text(owner)));
}

Error wait_was_interrupted(const NamedFolder& folder, const FolderOwner& owner, const Hparams& hparams) {
  const auto code = static_cast<int>(hparams.failure.exit_code_when_interrupted.value);
  return Error("RUN-20",
               fmt::format("signal {} ended the wait for {}, which belongs to a run that has not ended ({}); "
                           "nothing was started",
                           interrupting_signal(), words(folder), to_text(owner)),
               code == 0 ? ExitCode::failure : static_cast<ExitCode>(code));
}

/// Does something that needs the folder to exist and to be writable.
template <class Act> auto in_folder(const NamedFolder& folder, Act act) {
  try {
    return act();
  } catch (const std::system_error& failure) {
    if (failure.code() == std::errc::no_space_on_device || failure.code().value() == EDQUOT)  // it may be writable soon
      throw_file_error("write into the folder", folder.path, failure.code().value());
    throw UsageError("RUN-02",
                     fmt::format("{} can't be written: {}; choose another", words(folder), failure.code().message()));
  }
}

struct WaitLimit {
  Clock::time_point until;
  const std::function<void(const std::string&)>& waits;  ///< called now and then with what is waited for
};

/// Waits until this process owns the folder. Whether the process that owns it is alive is found out in any case,
/// however short the wait.
void take(const NamedFolder& folder, FolderLock& lock, const Hparams& hparams, const WaitLimit& limit) {
  while (true) {
    const auto [outcome, owner] = in_folder(folder, [&] { return lock.attempt(); });
    if (outcome == FolderLock::Outcome::held) return;
    if (interrupting_signal() != 0) throw wait_was_interrupted(folder, owner, hparams);
    if (outcome == FolderLock::Outcome::in_use && Clock::now() > limit.until) throw in_use(folder, owner);
    limit.waits(fmt::format("{} ({})", words(folder), to_text(owner)));
    std::this_thread::sleep_for(between_attempts);
  }
}

bool is_gone(const FolderLock& lock) {
  const FolderLock::State state = lock.look();
  if (state == FolderLock::State::taken)
    throw RunTakenOver(
        "RUN-21", fmt::format("{} has been taken over by another run ({}): this one ends so as not to mix with it, and "
                              "what it trained since its last checkpoint is lost; give each run a folder of its own",
                              in_quotes(lock.folder()), to_text(lock.taker())));
  return state == FolderLock::State::gone;
}

}  // namespace

/// A folder and the lock on it.
struct RunOwnership::Owned {
  NamedFolder folder;
  std::unique_ptr<FolderLock> lock;
};

/// The locks are taken in an order that depends on the folders alone: otherwise two runs could each have one folder and
/// wait for the other for ever. The folders are created first, because only then is it certain whether two paths name
/// the same one.
RunOwnership::RunOwnership(const Hparams& hparams, std::int64_t longest_wait,
                           const std::function<void(const std::string&)>& waits)
    : RunOwnership() {  // so that the destructor runs if what follows throws
  for (const auto& [field, path] : {std::pair{"run.output_dir", hparams.run.output_dir.value},
                                    std::pair{"checkpoint.directory", checkpoint_folder(hparams)}}) {
    const NamedFolder folder{field, path};
    auto lock = std::make_unique<FolderLock>(path);
    in_folder(folder, [&] { lock->create_folder(); });
    owned_.push_back({folder, std::move(lock)});
  }
  const auto identity = [](const Owned& owned) {
    return in_folder(owned.folder, [&] { return std::filesystem::canonical(owned.folder.path); });
  };
  const auto run = identity(owned_[0]), checkpoints = identity(owned_[1]);
  const WaitLimit limit{Clock::now() + std::max<Clock::duration>(shortest_wait, std::chrono::seconds(longest_wait)),
                        waits};
  if (run == checkpoints) owned_.pop_back();
  if (checkpoints < run) std::swap(owned_[0], owned_[1]);
  for (Owned& owned : owned_) take(owned.folder, *owned.lock, hparams, limit);
}

RunOwnership::RunOwnership() = default;
RunOwnership::RunOwnership(RunOwnership&&) noexcept = default;

/// Inner folders first: a folder that was created can be removed only when what was created in it is gone.
RunOwnership::~RunOwnership() {
  std::ranges::sort(owned_, std::greater{}, [](const Owned& owned) { return owned.folder.path.size(); });
  for (Owned& owned : owned_) owned.lock.reset();
}

bool RunOwnership::lost() const {
  return std::ranges::count_if(owned_, [](const Owned& owned) { return is_gone(*owned.lock); }) > 0;
}

void RunOwnership::take_again(const Hparams& hparams) try {
  for (Owned& owned : owned_) {
    if (!is_gone(*owned.lock)) continue;
    owned.lock = std::make_unique<FolderLock>(owned.folder.path);
    take(owned.folder, *owned.lock, hparams, {Clock::now() + shortest_wait, [](const std::string&) {}});
  }
} catch (const UsageError& failure) {  // the folders were right when the run began, so this is no wrong usage
  throw Error(failure.id(), failure.text());
}

namespace {

/// Says what a start waits for, once.
class WaitingNote {
 public:
  explicit WaitingNote(std::int64_t longest_wait) : longest_wait_(longest_wait) {}
  void say(const std::string& what_for) {
    if (said_ || (longest_wait_ == 0 && Clock::now() < worth_a_word_)) return;
    said_ = true;
    fmt::print("waiting to learn whether a run has ended that has {}{}\n", what_for,
               longest_wait_ == 0 ? "" : fmt::format(", and for its end, {} s at most", longest_wait_));
    std::fflush(stdout);
  }

 private:
  const std::int64_t longest_wait_;
  const Clock::time_point worth_a_word_ = Clock::now() + std::chrono::seconds(1);
  bool said_ = false;
};

/// Rank 0 tells the others with this, again and again, that it still waits: they wait for each message at most
/// failure.rank_timeout.
class WaitHeartbeat {
 public:
  WaitHeartbeat(const World& world, const Hparams& hparams)
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

std::optional<RunOwnership> acquire_run_folders(const Hparams& hparams, const World& world) {
  WaitHeartbeat words(world, hparams);
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
    words.done();  // the caller tells the others of the failure
    throw;
  }
}

}  // namespace monomorph::train
