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
  std::string_view text;                ///< valid until the next call; empty if the line was passed over
  std::int64_t number;                  ///< from 1
  std::uint64_t offset;                 ///< bytes from the start of the text
  bool has_newline;                     ///< false only for a last line that lacks it
  std::uint64_t n_bytes = text.size();  ///< also of a line that was passed over

  bool is_passed_over() const noexcept { return n_bytes != text.size(); }
};

/// @throws Error [DATA-20]
[[noreturn]] void throw_line_too_long(const std::string& path, std::int64_t number, std::size_t most_bytes);

/// Cuts a text into lines that is read piece by piece; memory is bounded by the longest line that is held.
class LineBuffer {
 public:
  /// A compressed file of some megabytes may hold a line of as many gigabytes.
  static constexpr std::size_t most_line_bytes = std::size_t{64} << 20;

  /// The next line; nothing at the end of the text. A newline at the very end begins no further line.
  /// @param input has a `path` and appends text by `read_more`, which says false at its end   @throws Error [DATA-20]
  template <class Input> std::optional<Line> next(Input& input);
  /// The same, but a line that is too long is passed over: it comes without its text, which is not held either.
  template <class Input> std::optional<Line> next_of_any_length(Input& input);

 private:
  static constexpr std::size_t piece_bytes = std::size_t{1} << 20;

  template <class Input> std::size_t read_line(Input& input);
  template <class Input> std::uint64_t pass_pieces(Input& input);
  std::size_t held_bytes_of_line(std::size_t newline) const { return std::min(newline, buffer_.size()) - position_; }
  std::optional<Line> take_line(std::size_t n_held, std::uint64_t n_passed);

  std::string buffer_;
  std::size_t position_ = 0;  ///< in buffer_
  std::uint64_t offset_ = 0;  ///< of position_ in the text
  std::int64_t n_lines_ = 0;
};

template <class Input> std::optional<Line> LineBuffer::next(Input& input) {
  const std::size_t n_held = read_line(input);
  if (n_held > most_line_bytes) throw_line_too_long(input.path(), n_lines_ + 1, most_line_bytes);
  return take_line(n_held, 0);
}

template <class Input> std::optional<Line> LineBuffer::next_of_any_length(Input& input) {
  const std::size_t n_held = read_line(input);
  if (n_held <= most_line_bytes) return take_line(n_held, 0);
  const std::uint64_t n_passed = pass_pieces(input);
  return take_line(held_bytes_of_line(buffer_.find('\n', position_)), n_passed);
}

/// Reads until the buffer holds the next line or more than any may have, and returns how many bytes of it are held.
template <class Input> std::size_t LineBuffer::read_line(Input& input) {
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
  return held_bytes_of_line(newline);
}

/// Lets go of pieces of a line until the buffer holds its end, and returns how many bytes they had.
template <class Input> std::uint64_t LineBuffer::pass_pieces(Input& input) {
  std::uint64_t n_passed = 0;
  while (buffer_.find('\n', position_) == std::string::npos) {
    n_passed += buffer_.size() - position_;
    std::string().swap(buffer_);  // it has memory for a long line
    position_ = 0;
    if (!input.read_more(buffer_, piece_bytes)) break;
  }
  return n_passed;
}

/// The line that ends in the buffer; nothing at the end of the text.
/// @param n_held bytes of it in the buffer   @param n_passed bytes before them
inline std::optional<Line> LineBuffer::take_line(std::size_t n_held, std::uint64_t n_passed) {
  if (n_passed == 0 && position_ == buffer_.size()) return std::nullopt;
  const bool has_newline = position_ + n_held < buffer_.size();
  const std::uint64_t n_bytes = n_passed + n_held;
  const std::string_view held = std::string_view(buffer_).substr(position_, n_held);
  const Line line{n_bytes <= most_line_bytes ? held : "", ++n_lines_, offset_, has_newline, n_bytes};
  position_ += n_held + (has_newline ? 1 : 0);
  offset_ += n_bytes + (has_newline ? 1 : 0);
  return line;
}

}  // namespace monomorph::data
