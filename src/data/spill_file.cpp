#include "data/spill_file.hpp"

#include <monomorph/core/file_error.hpp>

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace monomorph::data {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 18;

}  // namespace

SpillFile::SpillFile(const std::string& beside)
    : path_((std::filesystem::path(beside).parent_path() / ".monomorph-index-XXXXXX").string()),
      descriptor_(::mkstemp(path_.data())) {
  if (descriptor_ < 0) throw_file_error("create", path_, errno);
  ::unlink(path_.c_str());
}

SpillFile::~SpillFile() { ::close(descriptor_); }

void SpillFile::write(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  if (buffer_.size() >= buffer_bytes) flush();
}

void SpillFile::flush() {
  std::span<const std::byte> left = buffer_;
  while (!left.empty()) {
    const ssize_t n_written = ::write(descriptor_, left.data(), left.size());
    if (n_written < 0 && errno == EINTR) continue;
    if (n_written < 0) throw_file_error("write", path_, errno);
    left = left.subspan(static_cast<std::size_t>(n_written));
  }
  buffer_.clear();
}

void SpillFile::copy_to(AtomicFile& file) {
  flush();
  buffer_.resize(buffer_bytes);
  for (off_t offset = 0;;) {
    const ssize_t n_read = ::pread(descriptor_, buffer_.data(), buffer_.size(), offset);
    if (n_read < 0 && errno == EINTR) continue;
    if (n_read < 0) throw_file_error("read", path_, errno);
    if (n_read == 0) return;
    file.write(std::span(buffer_).first(static_cast<std::size_t>(n_read)));
    offset += n_read;
  }
}

}  // namespace monomorph::data
