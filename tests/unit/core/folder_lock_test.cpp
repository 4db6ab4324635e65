#include <monomorph/core/folder_lock.hpp>

#include "support/catch.hpp"
#include "support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <system_error>
#include <thread>

using namespace std::chrono_literals;
using namespace monomorph::testing;
using monomorph::FolderLock, monomorph::FolderLockTiming, monomorph::FolderOwner;
using Outcome = FolderLock::Outcome;
using State = FolderLock::State;

namespace {

constexpr FolderLockTiming fast{.renewal = 20ms, .silence = 300ms, .settling = 100ms};
constexpr auto without_locks = FolderLock::SystemLocks::never;

/// The outcome when it is no longer unsure, and how long that took.
struct Found {
  FolderLock::Attempt attempt;
  std::chrono::steady_clock::duration after;
};
Found attempt_until_sure(FolderLock& lock) {
  const auto begin = std::chrono::steady_clock::now();
  while (true) {
    const FolderLock::Attempt attempt = lock.attempt();
    const auto after = std::chrono::steady_clock::now() - begin;
    if (attempt.outcome != Outcome::unsure || after > 30s) return {attempt, after};
    std::this_thread::sleep_for(5ms);
  }
}

nlohmann::json record_in(const std::string& folder) { return nlohmann::json::parse(read_bytes(folder + "/.owner")); }

/// The record of an owner on another machine, as it looks after so many renewals.
void leave_foreign_record(const std::string& folder, std::uint64_t n_beats) {
  write_bytes(folder + "/.owner", nlohmann::json{{"host", "node7"},
                                                 {"process", 812},
                                                 {"since", "2026-11-22 10:39:00"},
                                                 {"machine", "another boot"},
                                                 {"token", "theirs"},
                                                 {"beats", std::to_string(n_beats)}}
                                      .dump());
}

/// A child that takes the folder, says so, and goes on until it is killed.
class OwningChild {
 public:
  explicit OwningChild(const std::string& folder) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    child_ = ::fork();
    if (child_ == 0) {
      FolderLock lock(folder, fast);
      const char outcome = lock.attempt().outcome == Outcome::held ? 'y' : 'n';
      [[maybe_unused]] const ssize_t n_written = ::write(ends[1], &outcome, 1);
      while (true) ::pause();
    }
    char outcome = 0;
    CHECK(::read(ends[0], &outcome, 1) == 1);
    CHECK(outcome == 'y');
    for (const int end : ends) ::close(end);
  }
  OwningChild(const OwningChild&) = delete;
  ~OwningChild() { kill(); }
  pid_t process() const { return child_; }
  void signal(int number) const { ::kill(child_, number); }
  void kill() {
    if (child_ > 0) {
      ::kill(child_, SIGKILL);
      ::waitpid(child_, nullptr, 0);
    }
    child_ = -1;
  }

 private:
  pid_t child_ = -1;
};

}  // namespace

TEST_CASE("a folder has one owner, who is named, and whose death frees it") {
  const TemporaryFolder folder;
  OwningChild owner(folder.path());
  FolderLock lock(folder.path(), fast);
  const FolderLock::Attempt refused = lock.attempt();
  CHECK(refused.outcome == Outcome::in_use);
  CHECK(refused.owner.process == owner.process());
  CHECK(to_text(refused.owner) == "process " + std::to_string(owner.process()) + " on " + refused.owner.host +
                                      ", since " + refused.owner.since + " UTC");
  CHECK(refused.owner.since.size() == 19);

  owner.signal(SIGSTOP);  // a process that stands still lives
  std::this_thread::sleep_for(2 * fast.silence);
  CHECK(lock.attempt().outcome == Outcome::in_use);
  owner.kill();
  CHECK(lock.attempt().outcome == Outcome::held);
  CHECK(lock.attempt().outcome == Outcome::held);
}

TEST_CASE("of many that want a folder at once one gets it") {
  const TemporaryFolder folder;
  for (const auto locks : {FolderLock::SystemLocks::if_there_are, without_locks}) {
    std::vector<std::unique_ptr<FolderLock>> all;
    for (int i = 0; i < 8; ++i) all.push_back(std::make_unique<FolderLock>(folder.path(), fast, locks));
    std::atomic<int> n_held{0}, n_in_use{0};
    {
      std::vector<std::jthread> threads;
      for (const auto& lock : all)
        threads.emplace_back([&] {
          const Outcome outcome = attempt_until_sure(*lock).attempt.outcome;
          (outcome == Outcome::held ? n_held : n_in_use)++;
        });
    }
    CHECK(n_held == 1);
    CHECK(n_in_use == 7);
  }
}

TEST_CASE("nothing is left of an owner that ends in order, nor of a folder that it created and left empty") {
  const TemporaryFolder folder;
  {
    FolderLock lock(folder / "new/deeper", fast);
    CHECK(lock.attempt().outcome == Outcome::held);
    CHECK(n_entries(folder / "new/deeper") == 1);
  }
  CHECK(n_entries(folder.path()) == 0);
  {
    FolderLock lock(folder / "new/deeper/", fast);
    CHECK(lock.attempt().outcome == Outcome::held);
    write_bytes(folder / "new/deeper/file", "text");
  }
  CHECK(n_entries(folder / "new/deeper") == 1);
  { const FolderLock never_tried(folder / "other", fast); }
  CHECK_FALSE(std::filesystem::exists(folder / "other"));
}

TEST_CASE("who waits gets the folder when its owner gives it back, though the file that both had open is gone") {
  const TemporaryFolder folder;
  auto owner = std::make_unique<FolderLock>(folder / "run", fast);
  REQUIRE(owner->attempt().outcome == Outcome::held);
  FolderLock waiting(folder / "run", fast);
  CHECK(waiting.attempt().outcome == Outcome::in_use);
  const int of_third = ::open((folder / "run/.owner").c_str(), O_RDWR | O_CLOEXEC);
  REQUIRE(of_third >= 0);
  owner.reset();
  CHECK(::flock(of_third, LOCK_EX | LOCK_NB) == 0);  // the lock of a file that is in no folder says nothing
  CHECK(waiting.attempt().outcome == Outcome::held);
  CHECK(waiting.look() == State::held);
  ::close(of_third);
}

TEST_CASE("where a lock may not reach, the owner of another machine has the folder while it renews its record") {
  const TemporaryFolder folder;
  for (const auto locks : {FolderLock::SystemLocks::if_there_are, without_locks}) {
    leave_foreign_record(folder.path(), 1);
    FolderLock lock(folder.path(), fast, locks);
    CHECK(lock.attempt().outcome == Outcome::unsure);
    leave_foreign_record(folder.path(), 2);
    const FolderLock::Attempt renewed = lock.attempt();
    CHECK(renewed.outcome == Outcome::in_use);
    CHECK(to_text(renewed.owner) == "process 812 on node7, since 2026-11-22 10:39:00 UTC");
    CHECK(record_in(folder.path())["token"] == "theirs");

    const Found after_its_death = attempt_until_sure(lock);  // the record stands still from here on
    CHECK(after_its_death.attempt.outcome == Outcome::in_use);
    std::this_thread::sleep_for(fast.silence);
    CHECK(attempt_until_sure(lock).attempt.outcome == Outcome::held);
    CHECK(record_in(folder.path())["token"] != "theirs");
  }
}

TEST_CASE("an owner of another machine that has died is outlived") {
  const TemporaryFolder folder;
  leave_foreign_record(folder.path(), 17);
  FolderLock lock(folder.path(), fast);
  const Found found = attempt_until_sure(lock);
  CHECK(found.attempt.outcome == Outcome::held);
  CHECK(found.after >= fast.silence);
}

TEST_CASE("a record of this machine, or what is none, is no owner where locks hold") {
  const TemporaryFolder folder;
  {
    OwningChild owner(folder.path());
    owner.kill();
  }
  REQUIRE(record_in(folder.path()).contains("token"));
  CHECK(FolderLock(folder.path(), fast).attempt().outcome == Outcome::held);
  for (const std::string text : {"", "no json", "{}", "[1]", R"({"host": 1, "beats": "x"})"}) {
    CAPTURE(text);
    write_bytes(folder / ".owner", text);
    CHECK(FolderLock(folder.path(), fast).attempt().outcome == Outcome::held);
  }
}

TEST_CASE("an owner renews its record, and sees when the folder is removed, moved or taken") {
  const TemporaryFolder folder;
  {
    FolderLock lock(folder / "run", fast);
    REQUIRE(lock.attempt().outcome == Outcome::held);
    const auto beats = record_in(folder / "run")["beats"];
    for (int i = 0; i < 500 && record_in(folder / "run")["beats"] == beats; ++i) std::this_thread::sleep_for(10ms);
    CHECK(record_in(folder / "run")["beats"] > beats);
    CHECK(lock.look() == State::held);
    std::filesystem::remove_all(folder / "run");
    CHECK(lock.look() == State::gone);
  }
  {
    FolderLock lock(folder / "run", fast);
    REQUIRE(lock.attempt().outcome == Outcome::held);
    std::filesystem::rename(folder / "run", folder / "moved");
    CHECK(lock.look() == State::gone);
    FolderLock next(folder / "run", fast);  // the same path, another folder
    CHECK(next.attempt().outcome == Outcome::held);
    CHECK(lock.look() == State::taken);
    CHECK(lock.taker().process == ::getpid());
  }
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
  FolderLock lock(folder / "run", fast);
  REQUIRE(lock.attempt().outcome == Outcome::held);
  std::filesystem::remove(folder / "run/.owner");
  CHECK(lock.look() == State::gone);
  leave_foreign_record(folder / "run", 1);
  CHECK(lock.look() == State::taken);
  CHECK(lock.taker().host == "node7");
}

TEST_CASE("an owner that fell silent and wakes does not touch the record of the one that took over") {
  const TemporaryFolder folder;
  auto silent = std::make_unique<FolderLock>(folder.path(), FolderLockTiming{.renewal = 1h}, without_locks);
  while (silent->attempt().outcome != Outcome::held) std::this_thread::sleep_for(5ms);
  FolderLock next(folder.path(), fast, without_locks);
  CHECK(attempt_until_sure(next).attempt.outcome == Outcome::held);
  CHECK(silent->look() == State::taken);
  silent.reset();
  CHECK(next.look() == State::held);
}

TEST_CASE("what is not a folder any more is not removed with it, nor is a link in its place") {
  const TemporaryFolder folder;
  {
    FolderLock lock(folder / "run", fast);
    REQUIRE(lock.attempt().outcome == Outcome::held);
    std::filesystem::rename(folder / "run", folder / "moved");
    write_bytes(folder / "run", "precious");
  }
  CHECK(read_bytes(folder / "run") == "precious");
  std::filesystem::remove(folder / "run");
  {
    FolderLock lock(folder / "run", fast);
    REQUIRE(lock.attempt().outcome == Outcome::held);
    std::filesystem::remove_all(folder / "moved");
    std::filesystem::rename(folder / "run", folder / "moved");
    std::filesystem::create_directory_symlink("moved", folder / "run");
    CHECK(lock.look() == State::held);
  }
  CHECK(std::filesystem::is_symlink(folder / "run"));
}

TEST_CASE("a folder by way of a link is the one that the system finds there") {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "other/deeper");
  std::filesystem::create_directory_symlink(folder / "other/deeper", folder / "link");
  FolderLock direct(folder / "other/run", fast), by_link(folder / "link/../run", fast);
  CHECK(by_link.attempt().outcome == Outcome::held);
  CHECK(std::filesystem::exists(folder / "other/run/.owner"));
  CHECK_FALSE(std::filesystem::exists(folder / "run"));
  CHECK(direct.attempt().outcome == Outcome::in_use);
}

TEST_CASE("what processes left that were killed while they took the folder is removed") {
  const TemporaryFolder folder;
  write_bytes(folder / ".owner-0123456789abcdef", "{}");
  FolderLock lock(folder.path(), fast);
  CHECK(lock.attempt().outcome == Outcome::held);
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("a folder that can't be is an error of the system, and nothing stays behind") {
  const TemporaryFolder folder;
  write_bytes(folder / "file", "text");
  for (const std::string& path :
       {folder / "file", folder / "file/deeper", std::string("/proc/monomorph"), std::string("/dev/null/monomorph")}) {
    CAPTURE(path);
    FolderLock lock(path, fast);
    CHECK_THROWS_AS(lock.attempt(), std::system_error);
  }
  CHECK(n_entries(folder.path()) == 1);
  CHECK(read_bytes(folder / "file") == "text");
}
