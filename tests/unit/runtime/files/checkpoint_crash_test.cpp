// What becomes of checkpoints when the saving process is killed or the disk is full. Each case runs in a child process.
#include "runtime/files/checkpoint_in_progress.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/files/background_save.hpp>
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
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <random>
#include <string>
#include <thread>

namespace checkpoint_crash_test {

namespace {

using namespace monomorph;
using namespace monomorph::runtime;
using namespace monomorph::testing;

constexpr std::int64_t n_elements = 16 * 1024;
constexpr int cannot_run = 77;

/// A checkpoint of two tensors whose every element tells the step.
struct StepToSave {
  explicit StepToSave(std::int64_t step) : values(n_elements, static_cast<std::int32_t>(step)) {
    metadata.hyperparameters = "{}";
    metadata.step = step;
    const auto* const data = reinterpret_cast<const std::byte*>(values.data());
    for (const char* name : {"first", "second"})
      parts.push_back({{name, FileDType::i32, {n_elements}, data}, RegionRun::whole({n_elements})});
  }
  StepToSave(const StepToSave&) = delete;

  std::vector<std::int32_t> values;
  CheckpointMetadata metadata;
  std::vector<PartToSave> parts;
};

void expect_no_warnings(const SavedCheckpoint& saved) {
  if (!saved.warnings.empty()) throw Error("TEST-01", saved.warnings.front());
}

/// A way to save a step into a folder that keeps so many.
using Save = void (*)(const std::string& folder, std::int64_t step, int keep);

void save_step(const std::string& folder, std::int64_t step, int keep) {
  const StepToSave what(step);
  expect_no_warnings(save_checkpoint(folder, what.metadata, *one_rank(), what.parts, {.latest = keep}));
}

void save_step_behind(const std::string& folder, std::int64_t step, int keep) {
  const StepToSave what(step);
  const auto communicator = one_rank();
  BackgroundSave save(folder, what.metadata, *communicator, what.parts, {.latest = keep}, [] {});
  expect_no_warnings(save.finish());
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
bool mount_small_disk(const std::string& folder, const char* size = "size=200k") {
  const uid_t user = ::geteuid();
  if (::unshare(CLONE_NEWNS) != 0) {
    if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1";
  }
  return ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("disk", folder.c_str(), "tmpfs", 0, size) == 0 && ::mkdir((folder + "/usable").c_str(), 0700) == 0 &&
         ::rmdir((folder + "/usable").c_str()) == 0;
}

int status_of(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void check_kills(Save save, int n_kills) {
  const TemporaryFolder folder;
  const auto save_duration = duration_of([&] { save(folder.path(), 0, 2); });
  std::mt19937 random(7);
  std::int64_t latest_step = 0;
  // On a busy machine every kill may come before the first save has ended; more kills follow until one has.
  for (int round = 0; round < n_kills || (latest_step == 0 && round < 10 * n_kills); ++round) {
    CAPTURE(round);
    const pid_t child = start_child([&] {
      for (std::int64_t step = latest_step + 1;; ++step) save(folder.path(), step, 2);
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
  save(folder.path(), latest_step + 1, 1);
  CHECK(n_entries(folder.path()) == 1);
}

/// A save behind the steps, whose thread has come to the second tensor and waits there until it is told to go on.
class HeldSave {
 public:
  HeldSave(const std::string& folder, std::int64_t step) : what_(step), held_(go_on_.get_future()) {
    what_.parts[1].tensor.give = [this](const ByteSink& sink) {
      is_held_.set_value();
      held_.wait();
      sink(std::as_bytes(std::span(what_.values)));
    };
    save_.emplace(folder, what_.metadata, *communicator_, what_.parts, Retention{}, [] {});
    is_held_.get_future().wait();
  }
  ~HeldSave() { go_on(); }
  void go_on() {
    if (!std::exchange(goes_on_, true)) go_on_.set_value();
  }
  BackgroundSave& operator*() { return *save_; }
  BackgroundSave* operator->() { return &*save_; }

 private:
  StepToSave what_;
  std::promise<void> is_held_, go_on_;
  std::shared_future<void> held_;
  bool goes_on_ = false;
  const std::unique_ptr<Communicator> communicator_ = one_rank();
  std::optional<BackgroundSave> save_;
};

}  // namespace

TEST_CASE("kill -9 at any moment of saving leaves a complete checkpoint, the latest or the one before") {
  check_kills(save_step, 30);
}

TEST_CASE(
    "kill -9 at any moment of a save behind the steps leaves a complete checkpoint, the latest or the one before") {
  check_kills(save_step_behind, 10);
}

TEST_CASE("hundreds of kills, of saves at once and behind the steps", "[.][exhaustive]") {
  check_kills(save_step, 500);
  check_kills(save_step_behind, 500);
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
    for (const Save save : {save_step, save_step_behind}) {
      const std::string message = error_of([&] { save(folder.path(), 2, 1); });
      if (!contains(message, "[FILE-06]") || !contains(message, "rank_00000.safetensors")) return 2;
    }
    return 0;
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
    for (const Save save : {save_step, save_step_behind}) {
      const std::string message = error_of([&] { save(folder.path(), 2, 1); });
      if (!contains(message, "[FILE-02]") || !contains(message, "the disk is full")) return 2;
      if (n_entries(folder.path()) != 1) return 3;
    }
    return holds_its_step(CheckpointReader(folder / "step_00000001")) ? 0 : 4;
  });
  const int status = WEXITSTATUS(status_of(child));
  if (status == cannot_run) MONOMORPH_SKIP("this machine does not allow mounting a small disk");
  CHECK(status == 0);
}

TEST_CASE("a disk that is full of what earlier saves have left has room for the next one") {
  const TemporaryFolder folder;
  const pid_t child = start_child([&] {
    if (!mount_small_disk(folder.path(), "size=1m,nr_inodes=40")) return cannot_run;
    std::int64_t step = 1;
    for (const Save save : {save_step, save_step_behind}) {
      const std::string leftover = folder / ".partial-step_00000001-0badcafe";
      std::filesystem::create_directory(leftover);
      for (int i = 0; std::ofstream(leftover + "/" + std::to_string(i)).good(); ++i) {
      }
      save(folder.path(), ++step, 1);
      if (n_entries(folder.path()) != 1) return 2;
      if (!holds_its_step(CheckpointReader(folder / ("step_0000000" + std::to_string(step))))) return 3;
    }
    return 0;
  });
  const int status = WEXITSTATUS(status_of(child));
  if (status == cannot_run) MONOMORPH_SKIP("this machine does not allow mounting a small disk");
  CHECK(status == 0);
}

TEST_CASE("where the system gives no thread, whoever waits for a checkpoint writes it, and does not rest") {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  const pid_t child = start_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return cannot_run;  // root may start threads as it likes
    const rlimit none{0, 0};
    if (::setrlimit(RLIMIT_NPROC, &none) != 0) return cannot_run;
    while (std::clock() < CLOCKS_PER_SEC) {  // by which a rest is measured
    }
    const StepToSave what(2);
    const auto communicator = one_rank();
    const auto taken = duration_of([&] {
      BackgroundSave save(folder.path(), what.metadata, *communicator, what.parts, {}, [] {});
      while (!save.advance()) {
      }
    });
    if (taken > std::chrono::seconds(25)) return 2;
    return holds_its_step(CheckpointReader(folder / "step_00000002")) ? 0 : 3;
  });
  const int status = WEXITSTATUS(status_of(child));
  if (status == cannot_run) MONOMORPH_SKIP("root may not become another user here");
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

TEST_CASE("a folder that may not be written to fails a save before anything is written behind it") {
  const TemporaryFolder folder;
  save_step(folder.path(), 1, 3);
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  const pid_t child = start_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return cannot_run;  // root may write everywhere
    for (const Save save : {save_step, save_step_behind}) {
      const std::string message = error_of([&] { save(folder.path(), 2, 1); });
      if (!contains(message, "[FILE-03]") || !contains(message, "create the folder")) return 2;
    }
    return holds_its_step(CheckpointReader(folder / "step_00000001")) ? 0 : 3;
  });
  const int status = WEXITSTATUS(status_of(child));
  std::filesystem::permissions(folder.path(), std::filesystem::perms::owner_all);
  if (status == cannot_run) MONOMORPH_SKIP("root may not become another user here");
  CHECK(status == 0);
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("a save behind the steps writes the bytes of one that is waited for, in its stages") {
  const TemporaryFolder folder;
  save_step(folder / "at_once", 5, 1);
  HeldSave save(folder / "behind", 5);
  CHECK(save->is_busy());
  CHECK(save->is_busy(std::chrono::milliseconds(20)));
  CHECK_FALSE(has_checkpoints(folder / "behind"));
  save.go_on();
  while (save->is_busy(std::chrono::seconds(1))) {
  }
  CHECK_FALSE(has_checkpoints(folder / "behind"));  // a rank alone can't know that all have written
  CHECK_FALSE(save->advance());
  while (save->is_busy(std::chrono::seconds(1))) {
  }
  const auto saved = save->advance();
  REQUIRE(saved);
  CHECK(saved->path == folder / "behind/step_00000005");
  for (const char* file : {"rank_00000.safetensors", "metadata.json"})
    CHECK(read_bytes(folder / "behind/step_00000005/" + file) == read_bytes(folder / "at_once/step_00000005/" + file));
  CHECK(n_entries(folder / "behind") == 1);
}

namespace {

/// A folder with a checkpoint, and with what a killed save and a killed deletion have left.
struct FolderWithLeftovers : TemporaryFolder {
  FolderWithLeftovers() {
    save_step(path(), 1, 3);
    for (const std::string& name : leftovers) {
      std::filesystem::create_directory(*this / name);
      write_bytes(*this / name + "/rank_00000.safetensors", "half");
    }
  }
  std::size_t n_leftovers() const {
    return static_cast<std::size_t>(std::ranges::count_if(leftovers, [&](const std::string& name) {
      return std::filesystem::exists(*this / name);
    }));
  }
  const std::vector<std::string> leftovers{".partial-step_00000002-0badcafe", ".trash-step_00000000"};
};

}  // namespace

TEST_CASE("a save that begins only looks for what earlier ones left, and removes later what it has seen alone") {
  const FolderWithLeftovers folder;
  const StepToSave what(2);
  const auto communicator = one_rank();
  CheckpointInProgress save(folder.path(), what.metadata, *communicator, {});
  CHECK(save.has_leftovers());
  CHECK(folder.n_leftovers() == 2);
  // As another run begins that has taken the folder in the meantime.
  std::filesystem::create_directory(folder / ".partial-step_00000003-0badcafe");
  save.clear([&] { save.remove_leftovers(); });
  CHECK(folder.n_leftovers() == 0);
  CHECK(std::filesystem::exists(folder / ".partial-step_00000003-0badcafe"));
}

TEST_CASE("a save behind the steps writes nothing before what earlier ones left is gone") {
  const FolderWithLeftovers folder;
  const StepToSave what(2);
  const auto communicator = one_rank();
  BackgroundSave save(folder.path(), what.metadata, *communicator, what.parts, {}, [] {});
  const auto next_stage = [&] {
    while (save.is_busy(std::chrono::seconds(1))) {
    }
    return save.advance();
  };
  while (save.is_busy(std::chrono::seconds(1))) {
  }
  CHECK(folder.n_leftovers() == 0);
  CHECK(n_entries(folder.path()) == 2);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path()))
    CHECK((entry.is_directory() || contains(entry.path().string(), "step_00000001/")));
  CHECK_FALSE(next_stage());
  CHECK_FALSE(next_stage());
  const auto saved = next_stage();
  REQUIRE(saved);
  CHECK(saved->warnings.empty());
  CHECK(holds_its_step(CheckpointReader(folder / "step_00000002")));
  CHECK(n_entries(folder.path()) == 2);
}

TEST_CASE("a save behind the steps that nobody waits for leaves nothing of what it was to remove") {
  const FolderWithLeftovers folder;
  const StepToSave what(2);
  const auto communicator = one_rank();
  {
    const BackgroundSave save(folder.path(), what.metadata, *communicator, what.parts, {}, [] {});
  }
  CHECK(folder.n_leftovers() == 0);
  CHECK(n_entries(folder.path()) == 1);
}

TEST_CASE("a checkpoint whose step is saved again is not deleted before the disk has the new one in its place") {
  const TemporaryFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  const pid_t child = start_child([&] {
    if (::geteuid() == 0 && ::setuid(65534) != 0) return cannot_run;  // root may flush every folder
    const std::string checkpoints = folder / "checkpoints";
    save_step(checkpoints, 5, 3);
    const StepToSave what(5);
    const std::string message = error_of([&] {
      static_cast<void>(save_checkpoint(checkpoints, what.metadata, *one_rank(), what.parts, {}, [&] {
        ::chmod(checkpoints.c_str(), 0300);  // it may be written to, and not be opened, so that it can't be flushed
      }));
    });
    ::chmod(checkpoints.c_str(), 0700);
    if (!contains(message, "[FILE-03]") || !contains(message, "open the folder")) return 2;
    if (n_entries(checkpoints) != 2) return 3;
    for (const auto& entry : std::filesystem::directory_iterator(checkpoints))
      if (!holds_its_step(CheckpointReader(entry.path().string()))) return 4;
    save_step(checkpoints, 6, 3);
    return n_entries(checkpoints) == 2 ? 0 : 5;
  });
  const int status = WEXITSTATUS(status_of(child));
  if (status == cannot_run) MONOMORPH_SKIP("root may not become another user here");
  CHECK(status == 0);
}

TEST_CASE("a save behind the steps that nobody waits for leaves nothing") {
  const TemporaryFolder folder;
  save_step(folder.path(), 1, 3);
  {
    HeldSave save(folder.path(), 2);
    CHECK(n_entries(folder.path()) == 2);
  }
  CHECK(n_entries(folder.path()) == 1);
  CHECK(holds_its_step(CheckpointReader(folder / "step_00000001")));
}

TEST_CASE("a writer that wakes when another run has saved since fails, and mixes nothing") {
  const TemporaryFolder folder;
  HeldSave given_up(folder.path(), 2);
  save_step(folder.path(), 2, 3);  // as a run does that was started in its place
  save_step(folder.path(), 3, 3);
  given_up.go_on();
  CHECK(contains(error_of([&] { given_up->finish(); }), "metadata.json"));
  CHECK(n_entries(folder.path()) == 2);
  for (const char* step : {"step_00000002", "step_00000003"}) CHECK(holds_its_step(CheckpointReader(folder / step)));
}

TEST_CASE("what is asked before a checkpoint appears is asked on the thread that writes, and may forbid it") {
  const TemporaryFolder folder;
  const StepToSave what(4);
  const auto communicator = one_rank();
  std::thread::id asked;
  BackgroundSave save(folder.path(), what.metadata, *communicator, what.parts, {}, [&] {
    asked = std::this_thread::get_id();
    throw Error("TEST-02", "the folder is another run's now");
  });
  CHECK(contains(error_of([&] { save.finish(); }), "[TEST-02]"));
  CHECK(asked != std::this_thread::get_id());
  CHECK_FALSE(has_checkpoints(folder.path()));
}

}  // namespace checkpoint_crash_test
