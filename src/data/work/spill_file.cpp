#include "data/work/spill_file.hpp"

#include <monomorph/core/file_error.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>

namespace monomorph::data {
namespace {

constexpr std::size_t buffer_bytes = std::size_t{1} << 17;

}  // namespace

SpillFile::SpillFile(const std::string& beside)
    : path_((std::filesystem::path(beside).parent_path() / ".monomorph-spill-XXXXXX").string()),
      descriptor_(::mkostemp(path_.data(), O_CLOEXEC)) {
  if (descriptor_ < 0) throw_file_error("create", path_, errno);
  ::unlink(path_.c_str());
}

SpillFile::~SpillFile() { ::close(descriptor_); }

void SpillFile::write(std::span<const std::byte> bytes) {
  if (buffer_.size() + bytes.size() > buffer_bytes) flush();
  if (bytes.size() < buffer_bytes) {
    buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  } else {
    write_out(bytes);
  }
}

void SpillFile::flush() {
  write_out(buffer_);
  buffer_.clear();
}

void SpillFile::write_out(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t n_written = ::write(descriptor_, bytes.data(), bytes.size());
    if (n_written < 0 && errno == EINTR) continue;
    if (n_written < 0) throw_file_error("write", path_, errno);
    n_flushed_ += static_cast<std::uint64_t>(n_written);
    bytes = bytes.subspan(static_cast<std::size_t>(n_written));
  }
}

void SpillFile::settle() {
  flush();
  buffer_ = {};
}

std::size_t SpillFile::read(std::uint64_t offset, std::span<std::byte> bytes) {
  flush();
  std::size_t n_done = 0;
  while (n_done < bytes.size()) {
    const auto place = static_cast<off_t>(offset + n_done);
    const ssize_t n_read = ::pread(descriptor_, bytes.data() + n_done, bytes.size() - n_done, place);
    if (n_read < 0 && errno == EINTR) continue;
    if (n_read < 0) throw_file_error("read", path_, errno);
    if (n_read == 0) break;
    n_done += static_cast<std::size_t>(n_read);
  }
  return n_done;
}

void SpillFile::copy_to(AtomicFile& file) {
  std::vector<std::byte> piece(buffer_bytes);
  // NOLINTNEXTLINE(bugprone-infinite-loop): each turn has an n_read of its own
  for (std::uint64_t offset = 0; const std::size_t n_read = read(offset, piece); offset += n_read) {
    file.write(std::span(piece).first(n_read));
  }
}

}  // namespace monomorph::data
