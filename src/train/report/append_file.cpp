#include <monomorph/core/file_error.hpp>
#include <monomorph/train/report/append_file.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace monomorph::train {
namespace {

int flags_of(AppendFile::Mode mode) {
  constexpr int common = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC;
  switch (mode) {
    case AppendFile::Mode::create:
      return common | O_TRUNC;
    case AppendFile::Mode::create_new:
      return common | O_EXCL;
    case AppendFile::Mode::existing_or_new:
      break;
  }
  return common;
}

}  // namespace

AppendFile::AppendFile(std::string path, Mode mode)
    : path_(std::move(path)), descriptor_(::open(path_.c_str(), flags_of(mode), 0666)) {
  if (descriptor_ < 0) throw_file_error("open", path_, errno);
}

AppendFile::AppendFile(AppendFile&& other) noexcept
    : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}

AppendFile::~AppendFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void AppendFile::append(std::string_view record) {
  while (!record.empty()) {
    const ssize_t n_written = ::write(descriptor_, record.data(), record.size());
    if (n_written < 0 && errno == EINTR) continue;
    if (n_written < 0) throw_file_error("write", path_, errno);
    record.remove_prefix(static_cast<std::size_t>(n_written));
  }
}

bool AppendFile::is_in_place() const {
  struct stat here {
  }, there{};
  if (::stat(path_.c_str(), &there) != 0) return errno != ENOENT && errno != ENOTDIR;
  return ::fstat(descriptor_, &here) == 0 && here.st_ino == there.st_ino && here.st_dev == there.st_dev;
}

void AppendFile::truncate(std::uint64_t size) {
  if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) throw_file_error("shorten", path_, errno);
}

}  // namespace monomorph::train
