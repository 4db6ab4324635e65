#include "data/jinja/lexer.hpp"

#include "data/jinja/string_literal.hpp"
#include "data/text/python_text.hpp"

#include <monomorph/core/number_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace monomorph::data::jinja {
namespace {

constexpr std::array<std::string_view, 6> signs_of_two = {"//", "**", "==", "!=", ">=", "<="};
constexpr std::string_view signs_of_one = "+-/*%~[](){}><=.:|,;";
/// Names are copied and compared uncounted, so they must be short.
constexpr std::size_t longest_name = 256;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Line ends as \n, without the last one.
std::string normalized(std::string_view source) {
  std::string text = python::with_unix_line_ends(source);
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(normalized(source)) {}

  std::vector<Token> run() && {
    while (at_ < source_.size()) read_text();
    add(TokenKind::end, "end of the template");
    return std::move(tokens_);
  }

 private:
  /// Text up to the next tag, and the tag.
  void read_text() {
    std::size_t tag = at_;
    do {
      tag = source_.find('{', tag);
    } while (tag != std::string::npos && !is_tag(tag) && ++tag);
    if (tag == std::string::npos) {
      add_text(rest());
      at_ = source_.size();
      return;
    }
    const char kind = source_[tag + 1], control = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
    const bool has_control = control == '-' || control == '+';
    add_text(before_tag(std::string_view(source_).substr(at_, tag - at_), kind, control));
    advance_to(tag + 2 + (has_control ? 1 : 0));
    if (kind == '#') return read_comment();
    if (kind == '{') return read_tag(TokenKind::output_begin, TokenKind::output_end, "}}");
    if (!read_raw()) read_tag(TokenKind::block_begin, TokenKind::block_end, "%}");
  }
  bool is_tag(std::size_t at) const {
    return at + 1 < source_.size() && (source_[at + 1] == '{' || source_[at + 1] == '%' || source_[at + 1] == '#');
  }
  /// The text without the white space that the tag behind it takes away.
  std::string_view before_tag(std::string_view text, char kind, char control) const {
    if (control == '-') return python::right_stripped(text);
    if (control == '+' || kind == '{') return text;
    const std::size_t newline = text.rfind('\n');
    if (newline == std::string_view::npos && !line_starts_) return text;
    const std::string_view line = newline == std::string_view::npos ? text : text.substr(newline + 1);
    return python::stripped(line).empty() ? text.substr(0, text.size() - line.size()) : text;
  }

  void read_comment() {
    const std::size_t end = source_.find("#}", at_);
    if (end == std::string::npos) fail("a comment lacks its #}");
    const char control = end > at_ ? source_[end - 1] : '\0';
    advance_to(end + 2);
    after_tag(control);
  }

  /// What stands behind `{% raw %}`; false if the tag is another one.
  bool read_raw() {
    std::string_view left = python::left_stripped(rest());
    if (!left.starts_with("raw")) return false;
    left = python::left_stripped(left.substr(3));
    const bool strips = left.starts_with('-');
    if (strips) left.remove_prefix(1);
    if (!left.starts_with("%}")) return false;
    left.remove_prefix(2);
    if (strips) left = python::left_stripped(left);
    advance_to(source_.size() - left.size());
    line_starts_ = source_[at_ - 1] == '\n';
    return read_raw_text(), true;
  }
  void read_raw_text() {
    if (at_ == source_.size()) return;  // as Jinja has it, nothing needs no end
    for (std::size_t tag = source_.find("{%", at_); tag != std::string::npos; tag = source_.find("{%", tag + 1)) {
      std::string_view left = std::string_view(source_).substr(tag + 2);
      const char control = left.empty() ? '\0' : left.front();
      if (control == '-' || control == '+') left.remove_prefix(1);
      left = python::left_stripped(left);
      if (!left.starts_with("endraw")) continue;
      left = python::left_stripped(left.substr(6));
      const char end_control = left.empty() ? '\0' : left.front();
      if (end_control == '-' || end_control == '+') left.remove_prefix(1);
      if (!left.starts_with("%}")) continue;
      add_text(before_tag(std::string_view(source_).substr(at_, tag - at_), '%', control));
      advance_to(source_.size() - left.size() + 2);
      return after_tag(end_control);
    }
    fail("{% raw %} lacks its {% endraw %}");
  }

  /// Takes away what a tag's end says, or the newline behind a block.
  void after_tag(char control) {
    if (control == '-') {
      const std::size_t end = source_.size() - python::left_stripped(rest()).size();
      line_starts_ = end > at_ && source_[end - 1] == '\n';
      return advance_to(end);
    }
    line_starts_ = control != '+' && at_ < source_.size() && source_[at_] == '\n';
    if (line_starts_) advance_to(at_ + 1);
  }

  void read_tag(TokenKind begin, TokenKind end, std::string_view end_text) {
    add(begin, std::string(begin == TokenKind::block_begin ? "{%" : "{{"));
    while (true) {
      skip_space();
      if (at_ >= source_.size()) fail(fmt::format("a tag lacks its {}", end_text));
      if (brackets_.empty() && is_tag_end(end, end_text)) return;
      read_token();
    }
  }
  bool is_tag_end(TokenKind end, std::string_view end_text) {
    const char control = source_[at_];
    const bool has_control = control == '-' || (control == '+' && end == TokenKind::block_end);
    if (!rest().substr(has_control ? 1 : 0).starts_with(end_text)) return false;
    add(end, std::string(end_text));
    advance_to(at_ + end_text.size() + (has_control ? 1 : 0));
    if (end == TokenKind::block_end || control == '-') {
      after_tag(has_control ? control : '\0');
    } else {
      line_starts_ = false;
    }
    return true;
  }

  void read_token() {
    const char c = source_[at_];
    if (is_digit(c)) return read_number();
    if (is_name_character(c)) return read_name();
    if (c == '"' || c == '\'') return read_string(c);
    for (const std::string_view sign : signs_of_two)
      if (rest().starts_with(sign)) return add_sign(sign);
    if (signs_of_one.find(c) != std::string_view::npos) return add_sign(rest().substr(0, 1));
    fail(fmt::format("an unexpected {}", python::repr_of_text(rest().substr(0, 1))));
  }
  void add_sign(std::string_view sign) {
    balance(sign);
    add(TokenKind::sign, std::string(sign));
    advance_to(at_ + sign.size());
  }
  void balance(std::string_view sign) {
    if (sign == "(") brackets_ += ')';
    if (sign == "[") brackets_ += ']';
    if (sign == "{") brackets_ += '}';
    if (sign != ")" && sign != "]" && sign != "}") return;
    if (brackets_.empty() || brackets_.back() != sign.front())
      fail(fmt::format("an unexpected '{}'{}", sign,
                       brackets_.empty() ? "" : fmt::format(", expected '{}'", brackets_.back())));
    brackets_.pop_back();
  }
  void read_name() {
    std::size_t end = at_;
    while (end < source_.size() && is_name_character(source_[end])) ++end;
    if (end - at_ > longest_name) fail(fmt::format("a name of more than {} bytes", longest_name));
    add(TokenKind::name, source_.substr(at_, end - at_));
    advance_to(end);
  }
  void read_string(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail("a string lacks its closing quote");
    const auto meaning = meaning_of_literal(std::string_view(source_).substr(at_ + 1, end - at_ - 1));
    if (!meaning) fail("a string has a broken escape");
    add(TokenKind::string, *meaning);
    advance_to(end + 1);
  }

  void read_number() {
    if (source_[at_] == '0' && at_ + 1 < source_.size()) {
      const char base = static_cast<char>(source_[at_ + 1] | 0x20);
      if (base == 'x') return read_integer(16, 2);
      if (base == 'o') return read_integer(8, 2);
      if (base == 'b') return read_integer(2, 2);
    }
    const std::size_t whole = digits_end(at_);
    std::size_t end = whole;
    // An attribute such as `list.0.1` has no fractions in it.
    const bool follows_dot = at_ > 0 && source_[at_ - 1] == '.';
    if (!follows_dot && end + 1 < source_.size() && source_[end] == '.' && is_digit(source_[end + 1]))
      end = digits_end(end + 1);
    if (!follows_dot) end = exponent_end(end);
    if (end == whole) return read_integer(10, 0);
    const std::string digits = without_underscores(source_.substr(at_, end - at_));
    const auto number = number_from<double>(digits);
    if (!number) fail(fmt::format("the number {} is too large", digits));
    tokens_.push_back({TokenKind::number, digits, *number, line_});
    advance_to(end);
  }
  std::size_t digits_end(std::size_t at) const {
    while (at < source_.size() &&
           (is_digit(source_[at]) || (source_[at] == '_' && at + 1 < source_.size() && is_digit(source_[at + 1]))))
      ++at;
    return at;
  }
  std::size_t exponent_end(std::size_t at) const {
    if (at >= source_.size() || (source_[at] | 0x20) != 'e') return at;
    std::size_t digits = at + 1;
    if (digits < source_.size() && (source_[digits] == '+' || source_[digits] == '-')) ++digits;
    return digits < source_.size() && is_digit(source_[digits]) ? digits_end(digits) : at;
  }
  void read_integer(int base, std::size_t prefix) {
    std::size_t end = at_ + prefix;
    while (end < source_.size() && (is_name_character(source_[end]))) ++end;
    const std::string digits = without_underscores(source_.substr(at_ + prefix, end - at_ - prefix));
    std::int64_t number = 0;
    const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (digits.empty() || failure != std::errc{} || stop != digits.data() + digits.size())
      fail(fmt::format("{} is no whole number of 64 bits", python::repr_of_text(source_.substr(at_, end - at_))));
    tokens_.push_back({TokenKind::number, digits, number, line_});
    advance_to(end);
  }
  static std::string without_underscores(std::string digits) {
    std::erase(digits, '_');
    return digits;
  }

  void skip_space() { advance_to(source_.size() - python::left_stripped(rest()).size()); }
  std::string_view rest() const { return std::string_view(source_).substr(at_); }
  void advance_to(std::size_t end) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }
  void add_text(std::string_view text) {
    if (!text.empty()) add(TokenKind::text, std::string(text));
  }
  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), {}, line_}); }
  [[noreturn]] void fail(std::string what) const { throw SyntaxError{line_, std::move(what)}; }

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starts_ = true;  ///< what comes next begins a line
  std::string brackets_;     ///< that are open, as their closing ones
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokens_of(std::string_view source) { return Lexer(source).run(); }

}  // namespace monomorph::data::jinja
