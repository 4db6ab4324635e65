#include <monomorph/core/folder_lock.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
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

/// Those on the way to a folder that are not there, the deepest first.
std::vector<std::string> missing_folders(fs::path folder) {
  std::vector<std::string> missing;
  std::error_code ignored;  // what can't be looked at is created, and says why it can't
  while (!folder.empty() && !fs::exists(folder, ignored)) {
    missing.push_back(folder.string());
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  return missing;
}

std::string plain_path(const std::string& folder) {
  return (fs::absolute(folder).lexically_normal() / "").parent_path().string();
}

}  // namespace

std::string to_text(const FolderOwner& owner) {
  if (owner.host.empty()) return "another process";
  return fmt::format("process {} on {}, since {} UTC", owner.process, owner.host, owner.since);
}

FolderLock::FolderLock(const std::string& folder, FolderLockTiming timing, SystemLocks locks)
    : folder_(plain_path(folder)),
      path_(folder_ + "/.owner"),
      timing_(timing),
      self_(this_process()),
      uses_system_locks_(locks == SystemLocks::if_there_are) {}

FolderLock::~FolderLock() {
  renewal_ = {};                                                      // ends it and waits
  if (claimed_at_ && look() == State::held) ::unlink(path_.c_str());  // before it is unlocked: see open_and_lock
  close_file();
  std::error_code ignored;  // a folder that is not empty stays
  for (const std::string& folder : created_) fs::remove(folder, ignored);
}

void FolderLock::close_file() {
  if (descriptor_ >= 0) ::close(std::exchange(descriptor_, -1));
}

/// A former owner may remove the file between our opening and locking it: then what we lock is no longer in the folder.
bool FolderLock::open_and_lock() {
  while (true) {
    for (const std::string& folder : missing_folders(folder_))
      if (std::ranges::find(created_, folder) == created_.end()) created_.push_back(folder);
    fs::create_directories(folder_);
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0 && errno == ENOENT) continue;  // another process has just removed the folder it had created
    if (descriptor_ < 0) throw_system_error();
    while (uses_system_locks_ && ::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return false;
      if (errno != EINTR) uses_system_locks_ = false;  // ENOLCK, ENOSYS, EOPNOTSUPP: this file system has none
    }
    if (what_is_at(path_, descriptor_) == Place::same_file) return true;
    close_file();
  }
}

/// Looks at an owner's record once more.
/// @return whether it has been renewed since it was first seen, or may still be
FolderLock::Outcome FolderLock::watch(const FolderOwner& owner) {
  const auto now = Clock::now();
  const bool renewed = owner.token == seen_.token && owner.n_beats != seen_.n_beats;
  if (owner.token != seen_.token || renewed) {
    seen_ = owner;
    seen_since_ = now;
    seen_renewed_ = renewed;
  }
  if (now - seen_since_ >= timing_.silence) return Outcome::held;
  return seen_renewed_ ? Outcome::in_use : Outcome::unsure;
}

/// Of a file that is locked, or that can't be: held means that no other owner has it.
FolderLock::Attempt FolderLock::judge_record() {
  const auto owner = read_record(path_);
  if (!owner || owner->token == self_.token) return {};
  const bool same_machine = !owner->machine.empty() && owner->machine == self_.machine;
  if (uses_system_locks_ && same_machine) return {};  // it has ended, or its lock would have kept us out
  return {watch(*owner), *owner};
}

void FolderLock::write_record() {
  const std::string record = record_of(self_, n_beats_++);
  if (::pwrite(descriptor_, record.data(), record.size(), 0) != static_cast<ssize_t>(record.size()) ||
      ::ftruncate(descriptor_, static_cast<off_t>(record.size())) != 0)
    throw_system_error();
  ::fdatasync(descriptor_);  // or a network file system would keep it to itself; what can't be flushed stands as it is
}

FolderLock::Attempt FolderLock::attempt() {
  if (descriptor_ >= 0 && !claimed_at_ && what_is_at(path_, descriptor_) != Place::same_file) close_file();
  if (descriptor_ < 0 && !open_and_lock()) {
    const auto owner = read_record(descriptor_);
    close_file();
    return {Outcome::in_use, owner.value_or(FolderOwner{})};
  }
  const Attempt judged = judge_record();
  if (judged.outcome != Outcome::held) {
    claimed_at_.reset();  // without locks, another process may have claimed the folder after us
    return judged;
  }
  if (!claimed_at_) {
    claimed_at_ = Clock::now();
    write_record();
  }
  if (!uses_system_locks_ && Clock::now() - *claimed_at_ < timing_.settling) return {Outcome::unsure, {}};
  if (!renewal_.joinable()) renewal_ = std::jthread([this](const std::stop_token& stop) { keep_renewing(stop); });
  return {};
}

void FolderLock::keep_renewing(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, stop, timing_.renewal, [] { return false; }) && !stop.stop_requested()) {
    last_seen_ = look();
    if (last_seen_ != State::held) continue;
    try {
      write_record();
    } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch): the next renewal may succeed, and whoever
    }                                     // waits for this process to fall silent waits for several
  }
}

FolderLock::State FolderLock::look() const {
  const Place place = what_is_at(path_, descriptor_);
  if (place == Place::nothing) return State::gone;
  const auto owner = place == Place::unknown ? std::nullopt : read_record(path_);
  if (owner && owner->token != self_.token) return State::taken;
  return place == Place::other_file ? State::gone : State::held;
}

FolderOwner FolderLock::taker() const { return read_record(path_).value_or(FolderOwner{}); }

}  // namespace monomorph
