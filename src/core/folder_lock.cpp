#include <monomorph/core/folder_lock.hpp>

#include "core/folder_files.hpp"

#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <random>
#include <system_error>
#include <utility>

namespace monomorph {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

[[noreturn]] void throw_system_error() { throw std::system_error(errno, std::generic_category()); }

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string boot_id() {
  std::string id;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), id);
  return id;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &utc);
  return text.data();
}

std::string new_token() {
  std::random_device entropy;
  return fmt::format("{:08x}{:08x}", entropy(), entropy());
}

FolderOwner this_process() {
  return {.host = host_name(), .process = ::getpid(), .since = utc_now(), .machine = boot_id(), .token = new_token()};
}

/// Of the same length for any number of beats, as it is overwritten in place: on a full disk, too.
std::string record_of(const FolderOwner& owner, std::uint64_t n_beats) {
  const Json json{{"host", owner.host},       {"process", owner.process}, {"since", owner.since},
                  {"machine", owner.machine}, {"token", owner.token},     {"beats", fmt::format("{:020}", n_beats)}};
  return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

/// Absent for what is no record: an empty file, or one that is just being written.
std::optional<FolderOwner> parse_record(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  try {
    return FolderOwner{.host = json.at("host"),
                       .process = json.at("process"),
                       .since = json.at("since"),
                       .machine = json.at("machine"),
                       .token = json.at("token"),
                       .n_beats = std::stoull(json.at("beats").get<std::string>())};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<FolderOwner> read_record(int descriptor) {
  std::array<char, 4096> text{};
  const ssize_t n_read = ::pread(descriptor, text.data(), text.size(), 0);
  return n_read > 0 ? parse_record({text.data(), static_cast<std::size_t>(n_read)}) : std::nullopt;
}

std::optional<FolderOwner> read_record(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);  // opening is what makes NFS look again
  if (descriptor < 0) return std::nullopt;
  const auto record = read_record(descriptor);
  ::close(descriptor);
  return record;
}

enum class Place { same_file, other_file, nothing, unknown };
Place what_is_at(const std::string& path, int descriptor) {
  struct stat here {
  }, there{};
  if (::stat(path.c_str(), &there) != 0) return errno == ENOENT || errno == ENOTDIR ? Place::nothing : Place::unknown;
  if (::fstat(descriptor, &here) != 0) return errno == ESTALE ? Place::other_file : Place::unknown;
  return here.st_ino == there.st_ino && here.st_dev == there.st_dev ? Place::same_file : Place::other_file;
}

/// Without a slash at its end. Nothing else is made simpler: `link/..` is not the folder that has the link.
std::string path_of_folder(const std::string& folder) {
  const fs::path path = folder;
  return path.has_filename() ? folder : path.parent_path().string();
}

/// Gives a file its name, unless there is one of that name. NFS may say that there is one when it was this call, sent
/// twice, that made it; some file systems have no hard links.
bool name_exclusively(int descriptor, const std::string& file, const std::string& name) {
  if (::link(file.c_str(), name.c_str()) == 0) return true;
  const int failure = errno;
  struct stat status {};
  if (::fstat(descriptor, &status) == 0 && status.st_nlink == 2) return true;
  if (failure == EEXIST || failure == ENOENT) return false;
  if (::renameat2(AT_FDCWD, file.c_str(), AT_FDCWD, name.c_str(), RENAME_NOREPLACE) == 0) return true;
  if (errno == EEXIST || errno == ENOENT) return false;
  throw_system_error();
}

}  // namespace

std::string to_text(const FolderOwner& owner) {
  if (owner.host.empty()) return "another process";
  return fmt::format("process {} on {}, since {} UTC", owner.process, owner.host, owner.since);
}

FolderLock::FolderLock(const std::string& folder, FolderLockTiming timing, SystemLocks locks)
    : folder_(path_of_folder(folder)),
      path_(folder_ + "/.owner"),
      timing_(timing),
      self_(this_process()),
      uses_system_locks_(locks == SystemLocks::if_there_are) {}

FolderLock::~FolderLock() {
  renewal_ = {};  // ends it and waits
  if (descriptor_ >= 0) {
    if (look() == State::held) ::unlink(path_.c_str());  // before it is unlocked: see lock_other
    ::close(descriptor_);
  }
  for (const std::string& folder : created_) ::rmdir(folder.c_str());  // which fails for all but an empty folder
}

void FolderLock::create_folder() {
  const std::vector<std::string> missing = missing_folders(folder_);
  for (const std::string& folder : missing)
    if (std::ranges::find(created_, folder) == created_.end()) created_.push_back(folder);
  fs::create_directories(folder_);
  for (const std::string& folder : missing) {  // or a crash of the system could take all that is saved there with them
    const std::string parent = fs::path(folder).parent_path().string();
    try {
      sync_folder(parent.empty() ? "." : parent);
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch): it is gone again, or may be written to and not be read
    }
  }
}

/// @return whether the file is locked, or can't be
bool FolderLock::lock(int descriptor) {
  while (uses_system_locks_ && ::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EWOULDBLOCK) return false;
    if (errno != EINTR) uses_system_locks_ = false;  // ENOLCK, ENOSYS, EOPNOTSUPP: this file system has none
  }
  return true;
}

/// The record appears whole and locked, and only if there is none: whatever file system, at most one process succeeds.
bool FolderLock::place_record() {
  const std::string file = path_ + "-" + self_.token;
  descriptor_ = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor_ < 0 && errno == ENOENT) return false;  // another process has just removed the folder it had created
  if (descriptor_ < 0) throw_system_error();
  bool placed = false;
  try {
    write_record();
    lock(descriptor_);
    placed = name_exclusively(descriptor_, file, path_);
  } catch (const std::system_error&) {
    ::unlink(file.c_str());
    ::close(std::exchange(descriptor_, -1));
    throw;
  }
  ::unlink(file.c_str());
  if (!placed) ::close(std::exchange(descriptor_, -1));
  return placed;
}

/// Looks at another owner's record once more.
/// @return whether it has been renewed since it was first seen, or may still be; held if it has stood still long enough
FolderLock::Outcome FolderLock::watch(const FolderOwner& owner) {
  const auto now = Clock::now();
  const bool renewed = owner.token == seen_.token && owner.n_beats != seen_.n_beats;
  if (!seen_since_ || owner.token != seen_.token || renewed) {
    seen_ = owner;
    seen_since_ = now;
    seen_renewed_ = renewed;
  }
  if (now - *seen_since_ >= timing_.silence) return Outcome::held;
  return seen_renewed_ ? Outcome::in_use : Outcome::unsure;
}

/// What the record of another owner tells of it, which may have ended: held means that it has. Its lock was obtained,
/// or there are none. A record that nobody can read is watched as any other.
FolderLock::Attempt FolderLock::judge(const std::optional<FolderOwner>& record) {
  const FolderOwner owner = record.value_or(FolderOwner{});
  if (uses_system_locks_ && (!record || (!owner.machine.empty() && owner.machine == self_.machine))) return {};
  return {watch(owner), owner};
}

/// Removes the record of an owner that has ended, which `descriptor` has open. Only a process of another machine, where
/// locks do not reach, can have put its own there meanwhile: that one is put back.
bool FolderLock::remove_record(int descriptor) {
  const std::string aside = path_ + "-" + self_.token;
  if (::rename(path_.c_str(), aside.c_str()) != 0) return errno == ENOENT;
  const bool is_the_one = what_is_at(aside, descriptor) == Place::same_file;
  if (!is_the_one) [[maybe_unused]]
    const int ignored = ::link(aside.c_str(), path_.c_str());
  ::unlink(aside.c_str());
  return is_the_one;
}

/// Of a record that is there: takes the folder if its owner has ended.
FolderLock::Attempt FolderLock::replace_record() {
  const int descriptor = ::open(path_.c_str(), O_RDWR | O_CLOEXEC);     // opening is what makes NFS look again
  if (descriptor < 0 && errno == ENOENT) return {Outcome::unsure, {}};  // its owner has just given the folder back
  if (descriptor < 0) throw_system_error();
  const std::optional<FolderOwner> record = read_record(descriptor);
  Attempt attempt{Outcome::in_use, record.value_or(FolderOwner{})};
  if (lock(descriptor)) {
    // What its owner has removed in the meantime is no longer in the folder, and its lock says nothing.
    attempt = what_is_at(path_, descriptor) == Place::same_file ? judge(record) : Attempt{Outcome::unsure, {}};
    if (attempt.outcome == Outcome::held && !(remove_record(descriptor) && place_record()))
      attempt = {Outcome::unsure, {}};
    // Two machines may both have seen the last owner fall silent.
    if (attempt.outcome == Outcome::held && (!uses_system_locks_ || seen_since_))
      valid_from_ = Clock::now() + timing_.settling;
  }
  ::close(descriptor);
  return attempt;
}

/// What processes have left that were killed while they placed or replaced a record. One that does so now tries again.
void FolderLock::remove_leftovers() const {
  const std::string prefix = fs::path(path_).filename().string() + "-";
  std::error_code failure;
  for (fs::directory_iterator entry(folder_, failure), end; !failure && entry != end; entry.increment(failure))
    if (entry->path().filename().string().starts_with(prefix)) ::unlink(entry->path().c_str());
}

FolderLock::Attempt FolderLock::attempt() {
  if (descriptor_ < 0) {
    create_folder();
    const Attempt attempt = place_record() ? Attempt{} : replace_record();
    if (attempt.outcome != Outcome::held) return attempt;
  }
  if (Clock::now() < valid_from_) return {Outcome::unsure, {}};
  if (valid_from_ != Clock::time_point{} && look() != State::held) {
    ::close(std::exchange(descriptor_, -1));
    valid_from_ = {};
    return {Outcome::in_use, taker()};
  }
  if (!renewal_.joinable()) {
    remove_leftovers();
    renewal_ = std::jthread([this](const std::stop_token& stop) { keep_renewing(stop); });
  }
  return {};
}

void FolderLock::write_record() {
  const std::string record = record_of(self_, n_beats_++);
  const ssize_t n_written = ::pwrite(descriptor_, record.data(), record.size(), 0);
  if (n_written < 0) throw_system_error();
  if (n_written != static_cast<ssize_t>(record.size())) throw std::system_error(ENOSPC, std::generic_category());
  ::fdatasync(descriptor_);  // or a network file system would keep it to itself; what can't be flushed stands as it is
}

/// Into the file that is this owner's: if another one has taken the folder meanwhile, its record is another file.
void FolderLock::keep_renewing(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, stop, timing_.renewal, [] { return false; }) && !stop.stop_requested()) {
    try {
      write_record();
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the next renewal may succeed, and whoever
    }                                     // waits for this process to fall silent waits for several
  }
}

FolderLock::State FolderLock::look() const {
  switch (what_is_at(path_, descriptor_)) {
    case Place::same_file:
    case Place::unknown:  // a network that is away for a while
      return State::held;
    case Place::nothing:
      return State::gone;
    case Place::other_file:
      break;
  }
  return read_record(path_) ? State::taken : State::gone;
}

FolderOwner FolderLock::taker() const { return read_record(path_).value_or(FolderOwner{}); }

}  // namespace monomorph
