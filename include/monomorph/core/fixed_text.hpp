#pragma once
#include <cstddef>
#include <string_view>
#include <utility>

namespace monomorph {

/// A text that can be a template argument, so that compilers print it with the rule that it breaks.
template <std::size_t n> struct FixedText {
  char characters[n + 1]{};
  constexpr explicit FixedText(std::string_view text) {
    for (std::size_t i = 0; i < n; ++i) characters[i] = text[i];
  }
};

#ifdef __clang__  // prints FixedText as numbers, and these as characters
template <char... characters> struct Text;
template <FixedText text, std::size_t... i> Text<text.characters[i]...> spell(std::index_sequence<i...>);
template <FixedText text>
using Spelled = decltype(spell<text>(std::make_index_sequence<sizeof(text.characters) - 1>{}));
#else
template <FixedText text> struct Text;
template <FixedText text> using Spelled = Text<text>;
#endif

}  // namespace monomorph
