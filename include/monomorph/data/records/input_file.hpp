#pragma once
#include <monomorph/data/records/line_buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::data {

/// A file or pipe that is read from front to end.
class InputFile {
 public:
  /// @throws [FILE-01], [FILE-03]; [FILE-04] for a folder; [DATA-11] after a signal
  explicit InputFile(const std::string& path);
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  /// Reads up to `n_bytes`; 0 at the end of the file.  @throws [FILE-03]; [DATA-11] after a signal
  std::size_t read_some(char* to, std::size_t n_bytes);
  /// Appends up to `n_bytes` to `text`; false at the end of the file.  @throws [FILE-03]; [DATA-11] after a signal
  bool read_more(std::string& text, std::size_t n_bytes);
  /// Goes on reading from there.  @throws [FILE-03] for a pipe
  void seek(std::uint64_t offset);
  /// The size of a regular file; 0 for anything else.
  std::uint64_t regular_file_bytes() const;
  bool is_regular_file() const noexcept { return !may_wait_; }
  const std::string& path() const noexcept { return path_; }

 private:
  void wait_for_bytes() const;

  std::string path_;
  int descriptor_;
  bool may_wait_ = false;  ///< not a regular file: its bytes may come later
};

/// The lines of a file in turn, as they lie there.
class LineReader {
 public:
  explicit LineReader(const std::string& path) : file_(path) {}
  /// Nothing at the end of the file.   @throws as InputFile::read_some
  std::optional<Line> next() { return buffer_.next(file_); }
  const std::string& path() const noexcept { return file_.path(); }
  /// The size of a regular file; 0 for anything else.
  std::uint64_t file_bytes() const { return file_.regular_file_bytes(); }

 private:
  InputFile file_;
  LineBuffer buffer_;
};

}  // namespace monomorph::data
