#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace monomorph {

/// A regular file mapped read-only into memory. An empty file gives an empty span.
/// The mapping follows the file: cutting the file short while it is mapped ends the program at the next access to what
/// is gone, so files that are read this way are replaced by renaming (AtomicFile), never rewritten.
class MappedFile {
 public:
  /// @throws [FILE-01], [FILE-03]; [FILE-04] if `path` is not a regular file
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// Takes what has been read out of this program's memory. It can be read again, from the system's cache or the disk.
  void release() const noexcept;
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace monomorph
