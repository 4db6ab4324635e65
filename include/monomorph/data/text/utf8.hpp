#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace monomorph::data {

/// U+FFFD, which stands for bytes that are not UTF-8: its number, and its own bytes.
inline constexpr char32_t replacement_code_point = 0xFFFD;
inline constexpr std::string_view replacement_character = "\xEF\xBF\xBD";

/// One character at the start of a byte string.
struct Utf8Character {
  char32_t code_point;   ///< U+FFFD where the bytes are not UTF-8
  std::uint8_t n_bytes;  ///< how many bytes it takes; of broken ones, those that one U+FFFD stands for
  bool valid;
  bool incomplete;  ///< the text ends within a character that more bytes could still complete
};

/// Reads the first character of a text that is not empty. Broken bytes are grouped as Unicode recommends ("maximal
/// subparts"), as Python's and Rust's lossy decoders do.
Utf8Character first_character(std::string_view text);

/// The length of the longest prefix that is valid UTF-8.
std::size_t valid_utf8_prefix(std::string_view text);

/// The length of `text` without a character at its end that more bytes could still complete.
std::size_t complete_utf8_prefix(std::string_view text);

/// `text` with U+FFFD for every group of bytes that is not UTF-8.
std::string replace_invalid_utf8(std::string_view text);

/// Turns pieces of UTF-8 that may end anywhere into pieces that end between characters.
class Utf8Stream {
 public:
  /// What can be shown so far; an incomplete character at the end is kept back.
  std::string push(std::string_view bytes);
  /// What was kept back, as U+FFFD; empty if nothing was.
  std::string finish();

 private:
  std::string pending_;
};

}  // namespace monomorph::data
