#pragma once
#include "data/text/regular_expression.hpp"

#include <monomorph/data/tokenizer/definition/tokenizer_definition.hpp>

#include <variant>

namespace monomorph::data {

/// A TextPattern made ready for use.
class TextMatcher {
 public:
  /// @throws [TOK-02], [TOK-10] for a regular expression
  explicit TextMatcher(const TextPattern& pattern);

  /// It looks for one character and for no pattern: what it finds in a text does not depend on where that is cut.
  bool is_one_character() const;

  /// Gives all matches of `text`, valid UTF-8, from left to right. None overlaps another, and an empty one never
  /// follows a match at once.  @throws [TOK-11]
  template <class Visit> void for_each_match(std::string_view text, Visit visit) const {
    std::size_t position = 0;
    std::optional<std::size_t> last_end;
    while (position <= text.size()) {
      const std::optional<TextSpan> match = find(text, position);
      if (!match) return;
      if (match->begin == match->end && last_end == match->end) {
        position = match->end + character_size(text, match->end);
        continue;
      }
      visit(*match);
      position = match->end;
      last_end = match->end;
    }
  }

 private:
  std::optional<TextSpan> find(std::string_view text, std::size_t begin) const;
  static std::size_t character_size(std::string_view text, std::size_t begin);

  std::variant<std::string, RegularExpression> what_;
};

}  // namespace monomorph::data
