#pragma once
#include <monomorph/data/text/word_pattern.hpp>

#include "data/text/text_scanner.hpp"

#include <cstdlib>

namespace monomorph::data {

// The patterns, each as a function from the start of a word, which is not the text's end, to its end. A regular
// expression takes the first alternative that fits, as long as it can, and gives characters back where it must.

/// `'s|'t|'re|'ve|'m|'ll|'d`; the same position if there is none.
inline const char* contraction_end(TextScanner& text, const char* position) {
  if (text.byte_at(position) != '\'') return position;
  switch (text.byte_at(position + 1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return position + 2;
    case 'r':
    case 'v':
      return text.byte_at(position + 2) == 'e' ? position + 3 : position;
    case 'l':
      return text.byte_at(position + 2) == 'l' ? position + 3 : position;
    default:
      return position;
  }
}

/// The same in either case. The long s, U+017F, is an s.
inline const char* caseless_contraction_end(TextScanner& text, const char* position) {
  if (text.byte_at(position) != '\'') return position;
  const auto lower = [&](int i) { return static_cast<char>(text.byte_at(position + i) | 0x20); };
  switch (lower(1)) {
    case 's':
    case 't':
    case 'm':
    case 'd':
      return position + 2;
    case 'r':
    case 'v':
      return lower(2) == 'e' ? position + 3 : position;
    case 'l':
      return lower(2) == 'l' ? position + 3 : position;
    default:
      break;
  }
  return text.byte_at(position + 1) == '\xC5' && text.byte_at(position + 2) == '\xBF' ? position + 3 : position;
}

/// `\s+(?!\S)|\s+`: all white space at the end of the text, else all but its last character, but at least that one.
/// Before it, if `lines`, `\s*[\r\n]+`: up to the last end of a line.
template <bool lines> const char* white_space_end(TextScanner& text, const char* begin) {
  const char* end = begin;
  const char* last = begin;
  const char* line = nullptr;
  for (;;) {
    const auto next = text.at(end);
    if (!(next.set & white_space)) break;
    last = end;
    end += next.n_bytes;
    if (lines && (next.set & newlines)) line = end;
  }
  if (lines && line) return line;
  return end == text.end() || last == begin ? end : last;
}

template <int most> const char* numbers_end(TextScanner& text, const char* position) {
  for (int i = 0; i < most; ++i) {
    const auto next = text.at(position);
    if (!(next.set & numbers)) break;
    position += next.n_bytes;
  }
  return position;
}

/// `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`
inline const char* gpt2_word_end(TextScanner& text, const char* begin) {
  auto first = text.at(begin);
  const char* position = begin + first.n_bytes;
  if (*begin == ' ') {
    const auto second = text.at(position);
    if (second.set == 0 || (second.set & white_space)) return white_space_end<false>(text, begin);
    first = second;
    position += second.n_bytes;
  }
  if (first.set & letters) return text.letters_end(position);
  if (first.set & white_space) return white_space_end<false>(text, begin);
  if (first.set & numbers) return text.run_end(position, numbers);
  if (const char* end = contraction_end(text, begin); end != begin) return end;
  return text.run_end(position, punctuation);
}

/// ` ?[^\s\p{L}\p{N}]+[\r\n]*`, the last part with `/` too if `slashes`; what comes before the alternatives for white
/// space, which are tried if this does not fit.
template <bool slashes> const char* punctuation_or_space_end(TextScanner& text, const char* begin) {
  const char* position = text.run_end(*begin == ' ' ? begin + 1 : begin, punctuation);
  if (position == begin + (*begin == ' ' ? 1 : 0)) return white_space_end<true>(text, begin);
  for (;;) {
    const char byte = text.byte_at(position);
    if (byte != '\r' && byte != '\n' && !(slashes && byte == '/')) return position;
    ++position;
  }
}

/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|
/// ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
template <int most_digits> const char* cl100k_word_end(TextScanner& text, const char* begin) {
  const auto first = text.at(begin);
  const char* position = begin + first.n_bytes;
  if (first.set & letters) return text.letters_end(position);
  if (first.set & numbers) return numbers_end<most_digits>(text, begin);
  if (first.set & newlines) return white_space_end<true>(text, begin);
  if (const char* end = caseless_contraction_end(text, begin); end != begin) return end;
  const auto second = text.at(position);
  if (second.set & letters) return text.letters_end(position + second.n_bytes);
  return punctuation_or_space_end<false>(text, begin);
}

/// A word in which capitals come first, without what may stand before and after it:
/// `[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+` (`strict`) and, for where that fits nowhere, the same
/// with `+` and `*`; nullptr if it does not fit.
struct CapitalisedWord {
  const char* strict;
  const char* capitals_only;
};
inline CapitalisedWord capitalised_word_end(TextScanner& text, const char* begin) {
  constexpr CharacterSet either = set_of(CharacterClass::caseless, CharacterClass::mark);
  constexpr CharacterSet capital = either | set_of(CharacterClass::uppercase);
  constexpr CharacterSet small = either | set_of(CharacterClass::lowercase);
  const char* position = begin;
  const char* last_either = nullptr;  // the end of the last character that counts as small, too
  auto next = text.at(position);
  while (next.set & capital) {
    position += next.n_bytes;
    if (next.set & either) last_either = position;
    next = text.at(position);
  }
  if (next.set & small) return {text.run_end(position + next.n_bytes, small), nullptr};
  return {last_either, position == begin ? nullptr : position};
}

/// `[^\r\n\p{L}\p{N}]?` and a capitalised word, strict if it can be, then (`contractions`)
/// `(?i:'s|'t|'re|'ve|'m|'ll|'d)?`; then numbers, punctuation and white space as in cl100k.
template <int most_digits, bool contractions> const char* o200k_word_end(TextScanner& text, const char* begin) {
  const auto first = text.at(begin);
  if (first.set & numbers) return numbers_end<most_digits>(text, begin);
  if (first.set & newlines) return white_space_end<true>(text, begin);
  const bool may_precede = !(first.set & letters);
  const CapitalisedWord after = capitalised_word_end(text, may_precede ? begin + first.n_bytes : begin);
  const char* end = after.strict;
  // A mark may stand before the word or be part of it.
  if (!end && may_precede && (first.set & punctuation)) end = capitalised_word_end(text, begin).strict;
  if (!end) end = after.capitals_only;
  if (!end) return punctuation_or_space_end<true>(text, begin);
  return contractions ? caseless_contraction_end(text, end) : end;
}

/// The end of the word of `pattern` that starts at `begin`.
template <WordPattern pattern> const char* word_end(TextScanner& text, const char* begin) {
  switch (pattern) {
    case WordPattern::gpt2:
      return gpt2_word_end(text, begin);
    case WordPattern::cl100k:
      return cl100k_word_end<3>(text, begin);
    case WordPattern::qwen2:
      return cl100k_word_end<1>(text, begin);
    case WordPattern::o200k:
      return o200k_word_end<3, true>(text, begin);
    case WordPattern::tekken:
      return o200k_word_end<1, false>(text, begin);
  }
  std::abort();
}

/// Calls `action` with the pattern as a template argument.
template <class Action> decltype(auto) with_pattern(WordPattern pattern, Action&& action) {
  switch (pattern) {
    case WordPattern::gpt2:
      return action.template operator()<WordPattern::gpt2>();
    case WordPattern::cl100k:
      return action.template operator()<WordPattern::cl100k>();
    case WordPattern::qwen2:
      return action.template operator()<WordPattern::qwen2>();
    case WordPattern::o200k:
      return action.template operator()<WordPattern::o200k>();
    case WordPattern::tekken:
      return action.template operator()<WordPattern::tekken>();
  }
  std::abort();
}

}  // namespace monomorph::data
