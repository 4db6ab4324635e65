#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace monomorph {

/// A regular file mapped read-only into memory. An empty file gives an empty span.
/// The mapping follows the file: cutting the file short while it is mapped ends the program at the next access to what
/// is gone, unless there is a TruncationGuard. So files that are read this way are replaced by renaming (AtomicFile),
/// never rewritten.
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
  /// @throws [DATA-09] if the size or the time of the file has changed since it was opened
  void check_unchanged() const;
  const std::string& path() const noexcept { return path_; }

 private:
  struct Stamp {
    std::int64_t size, seconds, nanoseconds;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  Stamp stamp() const;

  std::string path_;
  std::span<const std::byte> bytes_;
  Stamp stamp_{};
};

}  // namespace monomorph
