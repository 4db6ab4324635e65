#pragma once
#include <string_view>

namespace monomorph {

namespace detail {
constexpr bool is_capital(char character) { return character >= 'A' && character <= 'Z'; }
constexpr bool is_digit(char character) { return character >= '0' && character <= '9'; }

/// Not a constant, so that a compiler that gets here names it.
void an_error_id_must_be_capital_letters_a_hyphen_and_two_digits();
}  // namespace detail

/// Whether `text` is AREA-NN: capital letters, a hyphen, two digits.
constexpr bool is_error_id(std::string_view text) {
  if (text.size() < 4) return false;
  const std::string_view area = text.substr(0, text.size() - 3), number = text.substr(area.size());
  for (const char character : area)
    if (!detail::is_capital(character)) return false;
  return number[0] == '-' && detail::is_digit(number[1]) && detail::is_digit(number[2]);
}

/// What a message is known by, in docs/reference/messages.md and to code that tells errors apart: "RUN-12". It is made
/// of a literal, whose form the compiler checks; so an id that no text could have does not build, and none is read out
/// of a text.
class ErrorId {
 public:
  consteval ErrorId(const char* literal) : text_(literal) {  // implicit on purpose: Error("RUN-12", ...)
    if (!is_error_id(text_)) detail::an_error_id_must_be_capital_letters_a_hyphen_and_two_digits();
  }
  constexpr std::string_view text() const { return text_; }
  friend constexpr bool operator==(ErrorId, ErrorId) = default;

 private:
  std::string_view text_;
};

}  // namespace monomorph
