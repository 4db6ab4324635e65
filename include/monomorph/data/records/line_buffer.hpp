#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// One line of a text, without its newline.
struct Line {
  std::string_view text;  ///< valid until the next call
  std::int64_t number;    ///< from 1
  std::uint64_t offset;   ///< bytes from the start of the text
  bool has_newline;       ///< false only for a last line that lacks it
};

/// @throws Error [DATA-20]
[[noreturn]] void throw_line_too_long(const std::string& path, std::int64_t number, std::size_t most_bytes);

/// Cuts a text into lines that is read piece by piece; memory is bounded by the longest line.
class LineBuffer {
 public:
  /// A compressed file of some megabytes may hold a line of as many gigabytes.
  static constexpr std::size_t most_line_bytes = std::size_t{64} << 20;

  /// The next line; nothing at the end of the text. A newline at the very end begins no further line.
  /// @param input has a `path` and appends text by `read_more`, which says false at its end   @throws Error [DATA-20]
  template <class Input> std::optional<Line> next(Input& input);

 private:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;

  std::string buffer_;
  std::size_t position_ = 0;  ///< in buffer_
  std::uint64_t offset_ = 0;  ///< of position_ in the text
  std::int64_t n_lines_ = 0;
};

template <class Input> std::optional<Line> LineBuffer::next(Input& input) {
  std::size_t searched = position_;
  std::size_t newline = std::string::npos;
  while ((newline = buffer_.find('\n', searched)) == std::string::npos) {
    buffer_.erase(0, position_);
    position_ = 0;
    searched = buffer_.size();
    if (searched > most_line_bytes) break;
    // A long line is read in growing pieces.
    if (!input.read_more(buffer_, std::max(piece_bytes, buffer_.size()))) break;
  }
  if (newline == std::string::npos && buffer_.empty()) return std::nullopt;
  const bool has_newline = newline != std::string::npos;
  const std::size_t size = (has_newline ? newline : buffer_.size()) - position_;
  if (size > most_line_bytes) throw_line_too_long(input.path(), n_lines_ + 1, most_line_bytes);
  const Line line{std::string_view(buffer_).substr(position_, size), ++n_lines_, offset_, has_newline};
  position_ += size + (has_newline ? 1 : 0);
  offset_ += size + (has_newline ? 1 : 0);
  return line;
}

}  // namespace monomorph::data
