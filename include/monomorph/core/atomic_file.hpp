#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph {

/// A file opened for writing, with a buffer of its own. Every failure names the path and the reason; a full disk is
/// said to be one ([FILE-02]). What has been written is on the disk only after sync().
class OutputFile {
 public:
  enum class Mode { create_new, existing };

  /// @throws [FILE-01] if the folder does not exist; [FILE-03] for other reasons: Mode::create_new takes no existing
  /// file
  OutputFile(std::string path, Mode mode);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span{text.data(), text.size()})); }
  /// Overwrites what lies at `offset`, for a header that is known last.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes);
  /// Cuts the file off there, or fills it up with zeros, and goes on writing at that place.
  void truncate(std::uint64_t n_bytes);
  /// Empties the buffer and waits until the disk has everything.
  void sync();
  /// sync(), and gives buffer and descriptor back: nothing can be written any more.
  void close();
  const std::string& path() const noexcept { return path_; }

 private:
  void flush();

  std::string path_;
  int descriptor_ = -1;
  std::vector<std::byte> buffer_;
};

/// A file that appears at `path` complete or not at all: it is written beside it, flushed to the disk and renamed by
/// commit(); without commit() nothing changes and nothing is left. What a symbolic link points at is replaced, not the
/// link. A device or pipe (`/dev/stdout`) is written directly.
class AtomicFile {
 public:
  /// @throws [FILE-01] if the folder does not exist; [FILE-03]; [FILE-04] if `path` is a folder
  explicit AtomicFile(const std::string& path);
  AtomicFile(AtomicFile&&) = delete;
  ~AtomicFile();

  void write(std::span<const std::byte> bytes) { file_.write(bytes); }
  void write(std::string_view text) { file_.write(text); }
  /// Overwrites what lies at `offset`, for a header that is known last; not for a pipe.
  void write_at(std::uint64_t offset, std::span<const std::byte> bytes) { file_.write_at(offset, bytes); }
  /// Puts everything on the disk but not yet in its place, so that of several files none appears if the disk is too
  /// full for one. Nothing can be written any more.
  /// @throws [FILE-02], [FILE-03]; [DATA-09] if what was read to make it was cut short: see TruncationGuard
  void finish();
  /// finish(), and puts the file in its place, durably. To be called once, after the last write.
  /// @throws [FILE-02], [FILE-03]
  void commit();
  /// Removes what commit() has put in its place, because another file that belongs to it could not be.
  void withdraw() noexcept;

 private:
  std::string target_;
  bool in_place_;
  bool committed_ = false;
  OutputFile file_;
};

/// AtomicFile for a text that is at hand.
void write_text_file(const std::string& path, std::string_view text);

/// Where the bytes end up that are written to `path`: links followed, so that renaming replaces the file and not the
/// link to it. A device or pipe stays what it is.  @throws [FILE-04] for a folder
std::string output_target(const std::string& path);

/// Makes the creation, renaming and deletion of entries of `folder` durable.
void sync_folder(const std::string& folder);

}  // namespace monomorph
