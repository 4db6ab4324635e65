#include "data/records/append_some.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/records/input_file.hpp>
#include <monomorph/data/work/interruption.hpp>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace monomorph::data {
namespace {

int open_for_reading(const std::string& path) {
  int descriptor = -1;
  while ((descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC)) < 0) {
    if (errno != EINTR) throw_file_error("open", path, errno);
    throw_if_interrupted();  // opening a pipe waits for somebody who writes to it
  }
  return descriptor;
}

}  // namespace

InputFile::InputFile(const std::string& path) : path_(path), descriptor_(open_for_reading(path)) {
  struct stat status {};
  const bool has_status = ::fstat(descriptor_, &status) == 0;
  if (has_status && S_ISDIR(status.st_mode)) {
    ::close(descriptor_);
    throw Error("FILE-04", in_quotes(path_) + " is a folder; give a file");
  }
  may_wait_ = !has_status || !S_ISREG(status.st_mode);
}

InputFile::~InputFile() { ::close(descriptor_); }

/// A signal may reach another thread than the one that waits for a pipe, so the waiting thread looks for it now and
/// then.
void InputFile::wait_for_bytes() const {
  constexpr int milliseconds = 100;
  pollfd descriptor{descriptor_, POLLIN, 0};
  while (::poll(&descriptor, 1, milliseconds) == 0) throw_if_interrupted();
}

std::size_t InputFile::read_some(char* to, std::size_t n_bytes) {
  if (may_wait_) wait_for_bytes();
  throw_if_interrupted();
  ssize_t n_read = -1;
  while ((n_read = ::read(descriptor_, to, n_bytes)) < 0) {
    if (errno != EINTR) throw_file_error("read", path_, errno);
    throw_if_interrupted();
  }
  return static_cast<std::size_t>(n_read);
}

bool InputFile::read_more(std::string& text, std::size_t n_bytes) { return append_some(*this, text, n_bytes); }

void InputFile::seek(std::uint64_t offset) {
  if (::lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) throw_file_error("seek in", path_, errno);
}

std::uint64_t InputFile::regular_file_bytes() const {
  struct stat status {};
  return ::fstat(descriptor_, &status) == 0 && S_ISREG(status.st_mode) ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace monomorph::data
