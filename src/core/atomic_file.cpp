#include <monomorph/core/atomic_file.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/truncation_guard.hpp>

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace monomorph {
namespace {

constexpr std::size_t buffer_bytes = 256 * 1024;

/// Calls `write_some(pointer, size)` until nothing is left: a system call may write less than it was given.
template <class WriteSome>
void write_all(std::span<const std::byte> bytes, const std::string& path, WriteSome write_some) {
  while (!bytes.empty()) {
    const ssize_t n_written = write_some(bytes.data(), bytes.size());
    if (n_written < 0 && errno == EINTR) continue;
    if (n_written < 0) throw_file_error("write", path, errno);
    bytes = bytes.subspan(static_cast<std::size_t>(n_written));
  }
}

bool is_device_or_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

std::string parent_folder(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  return parent.empty() ? "." : parent;
}

OutputFile create_beside(const std::string& target) {
  static std::atomic<unsigned> n_created = 0;
  const std::string name = std::filesystem::path(target).filename().string();
  while (true) {
    const std::string path =
        fmt::format("{}/.{}.partial-{}-{}", parent_folder(target), name, ::getpid(), n_created.fetch_add(1));
    // Another machine that shares the folder may have a process of the same number.
    if (::access(path.c_str(), F_OK) != 0) return OutputFile(path, OutputFile::Mode::create_new);
  }
}

}  // namespace

OutputFile::OutputFile(std::string path, Mode mode) : path_(std::move(path)) {
  const int flags = O_WRONLY | O_CLOEXEC | (mode == Mode::create_new ? O_CREAT | O_EXCL : 0);
  descriptor_ = ::open(path_.c_str(), flags, 0666);
  if (descriptor_ < 0) throw_file_error(mode == Mode::create_new ? "create" : "open", path_, errno);
  buffer_.reserve(buffer_bytes);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      descriptor_(std::exchange(other.descriptor_, -1)),
      buffer_(std::move(other.buffer_)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() < buffer_bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  } else {
    write_all(bytes, path_,
              [this](const std::byte* data, std::size_t size) { return ::write(descriptor_, data, size); });
  }
}

void OutputFile::write_at(std::uint64_t offset, std::span<const std::byte> bytes) {
  flush();
  write_all(bytes, path_, [this, &offset](const std::byte* data, std::size_t size) {
    const ssize_t n_written = ::pwrite(descriptor_, data, size, static_cast<off_t>(offset));
    if (n_written > 0) offset += static_cast<std::uint64_t>(n_written);
    return n_written;
  });
}

void OutputFile::truncate(std::uint64_t n_bytes) {
  flush();
  const auto size = static_cast<off_t>(n_bytes);
  if (::ftruncate(descriptor_, size) != 0 || ::lseek(descriptor_, size, SEEK_SET) < 0)
    throw_file_error("write", path_, errno);
}

void OutputFile::flush() {
  write_all(buffer_, path_,
            [this](const std::byte* data, std::size_t size) { return ::write(descriptor_, data, size); });
  buffer_.clear();
}

void OutputFile::sync() {
  flush();
  // Devices and pipes have nothing to wait for and answer EINVAL or EROFS.
  if (::fsync(descriptor_) != 0 && errno != EINVAL && errno != EROFS) throw_file_error("write", path_, errno);
}

void OutputFile::close() {
  if (descriptor_ < 0) return;
  sync();
  if (::close(std::exchange(descriptor_, -1)) != 0) throw_file_error("write", path_, errno);
  buffer_ = {};
}

AtomicFile::AtomicFile(const std::string& path)
    : target_(output_target(path)),
      in_place_(is_device_or_pipe(target_)),
      file_(in_place_ ? OutputFile(target_, OutputFile::Mode::existing) : create_beside(target_)) {}

AtomicFile::~AtomicFile() {
  if (!committed_ && !in_place_) ::unlink(file_.path().c_str());
}

void AtomicFile::finish() {
  throw_if_truncated();
  file_.close();
}

void AtomicFile::commit() {
  finish();
  if (!in_place_) {
    if (std::rename(file_.path().c_str(), target_.c_str()) != 0) throw_file_error("write", target_, errno);
    committed_ = true;
    sync_folder(parent_folder(target_));
  }
}

void AtomicFile::withdraw() noexcept {
  if (committed_ && !in_place_) ::unlink(target_.c_str());
}

std::string output_target(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) throw Error("FILE-04", in_quotes(path) + " is a folder; give a file to write");
    if (!S_ISREG(status.st_mode)) return path;
  }
  std::error_code failure;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(path, failure);
  return failure ? path : resolved.string();
}

void write_text_file(const std::string& path, std::string_view text) {
  AtomicFile file(path);
  file.write(text);
  file.commit();
}

void sync_folder(const std::string& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) throw_file_error("open the folder", folder, errno);
  const int failure = ::fsync(descriptor) == 0 ? 0 : errno;
  ::close(descriptor);
  // Some network file systems cannot flush folders and say EINVAL: nothing better can be done there.
  if (failure != 0 && failure != EINVAL) throw_file_error("write the folder", folder, failure);
}

}  // namespace monomorph
