#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

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

/// One line of a file, without its newline.
struct Line {
  std::string_view text;  ///< valid until the next call
  std::int64_t number;    ///< from 1
  std::uint64_t offset;   ///< bytes from the start of the file
  bool has_newline;       ///< false only for a last line that lacks it
};

/// The lines of a file in turn; memory is bounded by the longest line.
class LineReader {
 public:
  explicit LineReader(const std::string& path) : file_(path) {}
  /// Nothing at the end of the file; a newline at the very end begins no further line.
  std::optional<Line> next();
  const std::string& path() const noexcept { return file_.path(); }
  /// The size of a regular file; 0 for anything else.
  std::uint64_t file_bytes() const { return file_.regular_file_bytes(); }

 private:
  InputFile file_;
  std::string buffer_;
  std::size_t position_ = 0;  ///< in buffer_
  std::uint64_t offset_ = 0;  ///< of position_ in the file
  std::int64_t n_lines_ = 0;
};

}  // namespace monomorph::data
