#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace monomorph {

/// The process that has a folder, as it says of itself.
struct FolderOwner {
  std::string host;
  std::int64_t process = 0;
  std::string since;          ///< UTC, "2026-11-22 10:39:00"
  std::string machine;        ///< the boot id of its kernel: a lock of the system holds within it for certain
  std::string token;          ///< of this ownership: no two have the same
  std::uint64_t n_beats = 0;  ///< grows for as long as the process lives
};

/// "process 812 on node7, since 2026-11-22 10:39:00 UTC"
std::string to_text(const FolderOwner& owner);

struct FolderLockTiming {
  std::chrono::milliseconds renewal{5'000};   ///< an owner renews its record so often
  std::chrono::milliseconds silence{20'000};  ///< the record of one that has died stands still for so long
  std::chrono::milliseconds settling{1'000};  ///< without locks: a record that nobody replaces for so long is valid
};

/// The right of one process to write to a folder, which ends with the process, however that ends.
///
/// It is a lock of the system (flock) on the file `.owner` of the folder, and a record in that file which its owner
/// renews every few seconds. The lock alone decides among processes of one machine, and among machines wherever the
/// file system passes locks on (NFS; Lustre mounted with `flock`). Where it does not (Lustre with `localflock`, NFS
/// with `nolock`), or has no locks at all, the record decides: a process of another machine takes a folder over only
/// after it has seen the record stand still for longer than its owner would let it. docs/why/one_owner.md says more.
class FolderLock {
 public:
  enum class SystemLocks { if_there_are, never };  ///< the latter is for tests

  /// Takes nothing yet.
  explicit FolderLock(const std::string& folder, FolderLockTiming timing = {},
                      SystemLocks locks = SystemLocks::if_there_are);
  FolderLock(const FolderLock&) = delete;
  /// Gives the folder back: removes the record, and the folders that attempt() created if they are empty.
  ~FolderLock();

  enum class Outcome {
    held,    ///< the folder is this process's
    in_use,  ///< another process has it
    unsure,  ///< another process may have it; it takes some more attempts, over `silence` at most, to know
  };
  struct Attempt {
    Outcome outcome = Outcome::held;
    FolderOwner owner;  ///< unless held; without a host if that is not known
  };
  /// Tries to take the folder, which is created if it is not there. Does not wait: call it again after a moment.
  /// @throws std::system_error the folder or the file in it can't be created
  Attempt attempt();

  enum class State {
    held,
    gone,   ///< folder or record are no longer where they were
    taken,  ///< the record is another owner's
  };
  /// Of a folder that is held: looks at it.
  State look() const;
  /// What the last renewal of the record has seen: costs nothing.
  State last_seen() const { return last_seen_.load(std::memory_order_relaxed); }
  /// Who has taken the folder from this process.
  FolderOwner taker() const;

  const std::string& folder() const { return folder_; }

 private:
  bool open_and_lock();
  Outcome watch(const FolderOwner& owner);
  Attempt judge_record();
  void write_record();
  void keep_renewing(const std::stop_token& stop);
  void close_file();

  const std::string folder_, path_;
  const FolderLockTiming timing_;
  const FolderOwner self_;
  bool uses_system_locks_;
  std::vector<std::string> created_;  ///< folders, the deepest first
  int descriptor_ = -1;
  FolderOwner seen_;  ///< another owner, whose record is watched
  std::chrono::steady_clock::time_point seen_since_;
  bool seen_renewed_ = false;
  std::optional<std::chrono::steady_clock::time_point> claimed_at_;
  std::uint64_t n_beats_ = 0;
  std::atomic<State> last_seen_{State::held};
  std::mutex mutex_;
  std::condition_variable_any stopping_;
  std::jthread renewal_;  ///< last: it uses all of the above
};

}  // namespace monomorph
