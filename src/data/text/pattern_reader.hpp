#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// A place in a regular expression, and the errors that name it.
class PatternReader {
 public:
  explicit PatternReader(std::string_view pattern) : pattern_(pattern) {}

  bool at_end() const { return position_ == pattern_.size(); }
  /// The next byte; 0 at the end.
  char peek(std::size_t ahead = 0) const {
    return position_ + ahead < pattern_.size() ? pattern_[position_ + ahead] : '\0';
  }
  bool next_is(std::string_view text) const { return pattern_.substr(position_).starts_with(text); }
  void skip(std::size_t n_bytes) { position_ += n_bytes; }
  bool skip_if(std::string_view text) {
    const bool found = next_is(text);
    if (found) skip(text.size());
    return found;
  }
  /// Takes the next character.
  char32_t take();
  /// Takes what stands before `end`, and `end`.
  std::string_view take_until(char end);
  /// Takes a decimal number; nothing if there is none.
  std::optional<std::size_t> take_number();
  /// Takes the rest of an escape that stands for one character, whose letter `letter` has been taken; nothing, and
  /// nothing taken, if it is of another kind.
  std::optional<char32_t> take_character_escape(char32_t letter);

  std::size_t position() const { return position_; }
  void go_back_to(std::size_t position) { position_ = position; }

  [[noreturn]] void throw_malformed(const std::string& what) const;
  [[noreturn]] void throw_unsupported(const std::string& what) const;

 private:
  char32_t take_hexadecimal(std::size_t least_digits, std::size_t most_digits);

  std::string_view pattern_;
  std::size_t position_ = 0;
};

}  // namespace monomorph::data
