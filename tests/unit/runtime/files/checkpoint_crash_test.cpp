// What becomes of checkpoints when the saving process is killed or the disk is full. Each case runs in a child process.
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <thread>

namespace checkpoint_crash_test {

namespace {

using namespace monomorph;
using namespace monomorph::runtime;
using namespace monomorph::testing;

constexpr std::int64_t n_elements = 16 * 1024;
constexpr int cannot_run = 77;

/// Two tensors whose every element tells the step.
void save_step(const std::string& folder, std::int64_t step, int keep) {
  const std::vector<std::int32_t> values(n_elements, static_cast<std::int32_t>(step));
  const auto* const data = reinterpret_cast<const std::byte*>(values.data());
  CheckpointMetadata metadata;
  metadata.hyperparameters = "{}";
  metadata.step = step;
  const SavedCheckpoint saved = save_checkpoint(
      folder, metadata, *one_rank(),
      std::vector<PartToSave>{{{"first", FileDType::i32, {n_elements}, data}, RegionRun::whole({n_elements})},
                              {{"second", FileDType::i32, {n_elements}, data}, RegionRun::whole({n_elements})}},
      {.latest = keep});
  if (!saved.warnings.empty()) throw Error("TEST-01", saved.warnings.front());
}

bool holds_its_step(CheckpointReader checkpoint) {
  std::vector<std::int32_t> values(n_elements);
  return std::ranges::all_of(checkpoint.names(), [&](const std::string& name) {
    checkpoint.read(name, 0, std::as_writable_bytes(std::span(values)));
    return std::ranges::all_of(values, [&](std::int32_t value) { return value == checkpoint.metadata().step; });
  });
}

/// Runs `action` in a child; its exit status is what `action` returns, 1 after an exception.
pid_t start_child(const std::function<int()>& action) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 1;
  try {
    status = action();
  } catch (...) {
  }
  ::_exit(status);
}

/// How long a save takes here, so that kills fall into saves on slow disks too.
std::chrono::nanoseconds duration_of(const std::function<void()>& action) {
  const auto begin = std::chrono::steady_clock::now();
  action();
  return std::chrono::steady_clock::now() - begin;
}

void sleep_up_to(std::chrono::nanoseconds longest, std::mt19937& random) {
  std::this_thread::sleep_for(longest * (random() % 1000) / 1000);
}

/// Mounts a disk of 200 KB over `folder`, seen by this process only. False where neither root nor user namespaces may.
bool mount_small_disk(const std::string& folder) {
  const uid_t user = ::geteuid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("disk", folder.c_str(), "tmpfs", 0, "size=200k") == 0 &&
         ::mkdir((folder + "/usable").c_str(), 0700) == 0 && ::rmdir((folder + "/usable").c_str()) == 0;
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

}  // namespace

TEST_CASE("kill -9 at any moment of saving leaves a complete checkpoint, the latest or the one before") {
  const TemporaryFolder folder;
  const auto save_duration = duration_of([&] { save_step(folder.path(), 0, 2); });
  std::mt19937 random(7);
  std::int64_t latest_step = 0;
  for (int round = 0; round < 30; ++round) {
    CAPTURE(round);
    const pid_t child = start_child([&] {
      for (std::int64_t step = latest_step + 1;; ++step) save_step(folder.path(), step, 2);
      return 0;
    });
    REQUIRE(child > 0);
    sleep_up_to(8 * save_duration, random);
    ::kill(child, SIGKILL);
    const int status = status_of(child);
    REQUIRE(WIFSIGNALED(status));  // it did not end by itself: no save had failed

    std::vector<std::string> skipped;
    const auto latest = latest_checkpoint(folder.path(), &skipped);
    REQUIRE(latest);
    CHECK(skipped.empty());
    const CheckpointMetadata metadata = read_checkpoint_metadata(*latest);
    CHECK(holds_its_step(CheckpointReader(*latest)));
    CHECK(metadata.step >= latest_step);
    latest_step = metadata.step;
  }
  CHECK(latest_step > 0);
  save_step(folder.path(), latest_step + 1, 1);
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("kill -9 while the same step is saved again leaves it complete") {
  const TemporaryFolder folder;
  const auto save_duration = duration_of([&] { save_step(folder.path(), 5, 1); });
  std::mt19937 random(8);
  for (int round = 0; round < 10; ++round) {
    const pid_t child = start_child([&] {
      while (true) save_step(folder.path(), 5, 1);
      return 0;
    });
    sleep_up_to(8 * save_duration, random);
    ::kill(child, SIGKILL);
    REQUIRE(WIFSIGNALED(status_of(child)));
    REQUIRE(latest_checkpoint(folder.path()));
    CHECK(holds_its_step(CheckpointReader(folder / "step_00000005")));
  }
}

TEST_CASE("a file that may not grow further fails in one line and leaves no partial checkpoint") {
  const TemporaryFolder folder;
  save_step(folder.path(), 1, 3);
  const pid_t child = start_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{50'000, 50'000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = error_of([&] { save_step(folder.path(), 2, 1); });
    return contains(message, "[FILE-06]") && contains(message, "rank_00000.safetensors") ? 0 : 2;
  });
  CHECK(WEXITSTATUS(status_of(child)) == 0);
  CHECK(n_entries(folder.path()) == 1);
  CHECK(holds_its_step(CheckpointReader(folder / "step_00000001")));
}

TEST_CASE("a full disk is said to be full: the earlier checkpoint stays and the disk is as free as before") {
  const TemporaryFolder folder;
  const pid_t child = start_child([&] {
    if (!mount_small_disk(folder.path())) return cannot_run;
    save_step(folder.path(), 1, 3);
    const std::string message = error_of([&] { save_step(folder.path(), 2, 1); });
    if (!contains(message, "[FILE-02]") || !contains(message, "the disk is full")) return 2;
    if (n_entries(folder.path()) != 1) return 3;
    return holds_its_step(CheckpointReader(folder / "step_00000001")) ? 0 : 4;
  });
  const int status = WEXITSTATUS(status_of(child));
  if (status == cannot_run) MONOMORPH_SKIP("this machine does not allow mounting a small disk");
  CHECK(status == 0);
}

TEST_CASE("what cannot be deleted is a warning, and the save stands") {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  const pid_t child = start_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return cannot_run;  // root may delete everything
    save_step(folder.path(), 1, 1);
    std::filesystem::create_directory(folder / "step_00000001/locked");
    write_bytes(folder / "step_00000001/locked/file", "x");
    std::filesystem::permissions(folder / "step_00000001/locked", std::filesystem::perms::none);
    const std::string message = error_of([&] { save_step(folder.path(), 2, 1); });  // save_step throws the warning
    std::filesystem::permissions(folder / ".trash-step_00000001/locked", std::filesystem::perms::owner_all);
    if (!contains(message, "[CHECKPOINT-08]") || !contains(message, ".trash-step_00000001")) return 2;
    return holds_its_step(CheckpointReader(folder / "step_00000002")) ? 0 : 3;
  });
  const int status = WEXITSTATUS(status_of(child));
  if (status == cannot_run) MONOMORPH_SKIP("root may not become another user here");
  CHECK(status == 0);
}

}  // namespace checkpoint_crash_test
