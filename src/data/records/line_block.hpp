#pragma once
#include "data/records/text_input.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// A document of 16 MB and its escapes have room in it.
inline constexpr std::size_t longest_line_bytes = std::size_t{18} << 20;

/// Whole lines of a file, as they lie there.
struct LineBlock {
  /// Bytes behind the lines that may be read, whatever they hold: vector instructions look ahead.
  static constexpr std::size_t padding_bytes = 64;

  std::unique_ptr<char[]> bytes;
  std::size_t capacity = 0;  ///< padding excluded
  std::size_t size = 0;
  std::uint64_t offset = 0;       ///< of the first line in the file
  std::uint64_t end_offset = 0;   ///< behind the last
  std::size_t input = 0;          ///< the place among several of the file that the lines are of
  std::uint64_t input_begin = 0;  ///< the offset at which that file's text begins
  bool is_one_too_long = false;   ///< stands for one line that is too long, which it does not hold
  std::size_t n_done = 0;         ///< bytes of the lines that for_each_line has gone through
  bool has_rest = false;          ///< for_each_line was told to stop before the last line

  std::string_view text() const { return {bytes.get(), size}; }
  /// Behind what for_each_line has gone through.
  std::uint64_t done_offset() const { return has_rest ? offset + n_done : end_offset; }
  /// A line of the block, to be written to.
  std::span<char> writable(std::string_view line) const {
    return {bytes.get() + (line.data() - bytes.get()), line.size()};
  }
};

/// Calls `visit(line, offset in the file)` for each line of a block, newline excluded, until it returns false; the next
/// call goes on behind that line.
template <class Visit> void for_each_line(LineBlock& block, Visit visit) {
  std::string_view rest = block.text().substr(block.n_done);
  std::uint64_t offset = block.offset + block.n_done;
  block.n_done = block.size;
  block.has_rest = false;
  while (!rest.empty()) {
    const void* newline = std::memchr(rest.data(), '\n', rest.size());
    const std::size_t length =
        newline != nullptr ? static_cast<std::size_t>(static_cast<const char*>(newline) - rest.data()) : rest.size();
    const bool goes_on = visit(rest.substr(0, length), offset);
    const std::size_t with_newline = length + (newline != nullptr ? 1 : 0);
    offset += with_newline;
    rest.remove_prefix(with_newline);
    if (goes_on || rest.empty()) continue;
    block.n_done -= rest.size();
    block.has_rest = true;
    return;
  }
}

/// Cuts the text of a file or pipe, compressed or not, into blocks at line ends; of several files as if they were one,
/// but that no line goes from one into the next. Offsets count on from file to file.
class LineBlockReader {
 public:
  /// @param offset where to begin; must be a line's begin; other than 0 only for files. Offsets are those of the text
  /// @param longest_line of more bytes a line is left out
  /// @param columns that are needed of a Parquet file   @throws as TextInput does
  explicit LineBlockReader(const std::string& path, std::uint64_t offset = 0,
                           std::size_t longest_line = longest_line_bytes, Columns columns = {});
  /// @param paths at least one   @throws as TextInput does, of a pipe when its turn comes
  explicit LineBlockReader(std::vector<std::string> paths, Columns columns = {});

  /// False at the end of the file.  @throws [FILE-03]; [DATA-11] after a signal
  bool next(LineBlock& block);
  /// Of all files; 0 if nobody knows it of one of them, as TextInput::has_text_bytes says.
  std::uint64_t file_bytes() const noexcept { return file_bytes_; }

 private:
  bool read_block(LineBlock& block);
  bool open_next();
  void read_to_newline(LineBlock& block);
  void skip_line(LineBlock& block);
  std::size_t read_some(char* to, std::size_t n_bytes);

  std::vector<std::string> paths_;
  Columns columns_;
  std::size_t input_ = 0;  ///< of paths_, the one that is being read
  std::uint64_t input_begin_ = 0;
  std::unique_ptr<TextInput> file_;
  std::uint64_t file_bytes_;
  std::uint64_t offset_;
  std::size_t longest_line_;
  std::string left_over_;  ///< the begin of the next line
  bool at_end_ = false;
};

}  // namespace monomorph::data
