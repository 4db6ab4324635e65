#pragma once
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
  std::chrono::milliseconds settling{1'000};  ///< who takes over without the help of locks looks again after so long
};

/// The right of one process to write to a folder, which ends with the process, however that ends.
///
/// It is the file `.owner` of the folder, a record that its owner renews every few seconds, with a lock of the system
/// (flock) on it. It appears whole and locked, and only where there is none, which every file system sees to. Of a
/// record that is there the lock tells whether its owner lives: among processes of one machine, and among machines
/// wherever the file system passes locks on (NFS; Lustre mounted with `flock`). Where it does not (Lustre with
/// `localflock`, NFS with `nolock`), or has no locks at all, a process of another machine takes the folder over only
/// after it has seen the record stand still for longer than its owner would let it. docs/why/one_owner.md says more.
class FolderLock {
 public:
  enum class SystemLocks { if_there_are, never };  ///< the latter is for tests

  /// Takes nothing yet.
  explicit FolderLock(const std::string& folder, FolderLockTiming timing = {},
                      SystemLocks locks = SystemLocks::if_there_are);
  FolderLock(const FolderLock&) = delete;
  /// Gives the folder back: removes the record, and the folders that it created if they are empty.
  ~FolderLock();

  /// If it is not there.   @throws std::system_error
  void create_folder();

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
  /// Who has taken the folder from this process.
  FolderOwner taker() const;

  const std::string& folder() const { return folder_; }

 private:
  bool lock(int descriptor);
  bool place_record();
  Outcome watch(const FolderOwner& owner);
  Attempt judge(const std::optional<FolderOwner>& record);
  bool remove_record(int descriptor);
  Attempt replace_record();
  void remove_leftovers() const;
  void write_record();
  void keep_renewing(const std::stop_token& stop);

  const std::string folder_, path_;
  const FolderLockTiming timing_;
  const FolderOwner self_;
  bool uses_system_locks_;
  std::vector<std::string> created_;  ///< folders, the deepest first
  int descriptor_ = -1;               ///< of this process's record
  FolderOwner seen_;                  ///< another owner, whose record is watched
  std::optional<std::chrono::steady_clock::time_point> seen_since_;
  bool seen_renewed_ = false;
  std::chrono::steady_clock::time_point valid_from_;  ///< of a record that took the place of a silent owner's
  std::uint64_t n_beats_ = 0;
  std::mutex mutex_;
  std::condition_variable_any stopping_;
  std::jthread renewal_;  ///< last: it uses all of the above
};

}  // namespace monomorph
