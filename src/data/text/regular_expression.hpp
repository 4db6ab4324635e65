#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::data {

/// A part of a text, in bytes.
struct TextSpan {
  std::size_t begin, end;
};

/// A compiled regular expression of a tokenizer.json, which is written for Oniguruma. Immutable; threads may share one.
class RegularExpression {
 public:
  /// @throws [TOK-10] it is none; [TOK-02] it uses what is not supported, by name
  explicit RegularExpression(std::string_view pattern);
  RegularExpression(RegularExpression&&) noexcept;
  RegularExpression& operator=(RegularExpression&&) noexcept;
  ~RegularExpression();

  /// The first match in `text`, valid UTF-8, that begins at `begin` or later.
  /// @throws [TOK-11] if that takes too many steps
  std::optional<TextSpan> find(std::string_view text, std::size_t begin) const;

 private:
  struct Compiled;
  std::unique_ptr<const Compiled> compiled_;
  std::string pattern_;
};

}  // namespace monomorph::data
