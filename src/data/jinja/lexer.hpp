#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace monomorph::data::jinja {

enum class TokenKind : std::uint8_t {
  text,
  output_begin,
  output_end,
  block_begin,
  block_end,
  name,
  string,
  number,
  sign,
  end
};

struct Token {
  TokenKind kind;
  std::string text;                           ///< of a string what it means; of a sign its characters
  std::variant<std::int64_t, double> number;  ///< of a number
  int line;
  bool is(TokenKind wanted, std::string_view value) const { return kind == wanted && text == value; }
};

/// What can't be read, and where.
struct SyntaxError {
  int line;
  std::string what;
};

/// The tokens of a template, the last of kind `end`; `trim_blocks` and `lstrip_blocks` are on, comments are left out.
/// @throws SyntaxError
std::vector<Token> tokens_of(std::string_view source);

}  // namespace monomorph::data::jinja
