#include "core/mapping_table.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/mapped_file.hpp>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace monomorph {
namespace {

std::span<const std::byte> map_descriptor(int descriptor, const std::string& path) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) throw_file_error("read", path, errno);
  if (!S_ISREG(status.st_mode)) throw Error("FILE-04", in_quotes(path) + " is not a regular file; give a file");
  const auto n_bytes = static_cast<std::size_t>(status.st_size);
  if (n_bytes == 0) return {};
  void* address = ::mmap(nullptr, n_bytes, PROT_READ, MAP_SHARED, descriptor, 0);
  if (address == MAP_FAILED) throw_file_error("map", path, errno);
  return {static_cast<const std::byte*>(address), n_bytes};
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path), stamp_(stamp()) {
  // O_NONBLOCK: opening a pipe that nobody writes must not hang before it is refused.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) throw_file_error("open", path, errno);
  try {
    bytes_ = map_descriptor(descriptor, path);
  } catch (...) {
    ::close(descriptor);
    throw;
  }
  ::close(descriptor);
  if (!bytes_.empty()) MappingTable::add(bytes_, path_);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})), stamp_(other.stamp_) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(stamp_, other.stamp_);
  return *this;
}

MappedFile::Stamp MappedFile::stamp() const {
  struct stat status {};
  if (::stat(path_.c_str(), &status) != 0) throw_file_error("open", path_, errno);
  return {status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

void MappedFile::check_unchanged() const {
  if (stamp() != stamp_) throw_changed_file(path_);
}

void MappedFile::release() const noexcept {
  if (!bytes_.empty()) ::madvise(const_cast<std::byte*>(bytes_.data()), bytes_.size(), MADV_DONTNEED);
}

MappedFile::~MappedFile() {
  if (bytes_.empty()) return;
  MappingTable::remove(bytes_);
  ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace monomorph
