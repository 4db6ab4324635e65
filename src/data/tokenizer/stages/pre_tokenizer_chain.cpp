#include "data/tokenizer/stages/pre_tokenizer_chain.hpp"

#include "core/overloaded.hpp"
#include "data/text/characters.hpp"
#include "data/text/unicode_sets.hpp"

#include <monomorph/data/text/byte_level.hpp>

namespace monomorph::data {
namespace {

using pre_tokenizers::Behavior;
using pre_tokenizers::PrependScheme;

/// Every character of `delimiters` is a delimiter of its own.
void cut_at(const CodePointSet& delimiters, Behavior behavior, PieceList& list) {
  cut(list, behavior, [&](std::string_view piece, auto add) {
    std::size_t position = 0;
    for_each_character(piece, [&](char32_t code_point, std::string_view bytes) {
      if (delimiters.contains(code_point)) add(position, position + bytes.size(), true);
      position += bytes.size();
    });
    return false;
  });
}

void cut_at(std::string_view delimiter, Behavior behavior, PieceList& list) {
  cut(list, behavior, [&](std::string_view piece, auto add) {
    for (std::size_t found = piece.find(delimiter); found != std::string_view::npos;
         found = piece.find(delimiter, found + delimiter.size())) {
      add(found, found + delimiter.size(), true);
    }
    return false;
  });
}

/// Keeps the runs of word characters and those of characters that are neither that nor white space.
void cut_into_words(PieceList& list) {
  enum class Kind { word, other, space };
  const auto kind_of = [](char32_t code_point) {
    if (unicode::word().contains(code_point)) return Kind::word;
    return unicode::white_space().contains(code_point) ? Kind::space : Kind::other;
  };
  cut(list, Behavior::removed, [&](std::string_view piece, auto add) {
    std::size_t begin = 0, position = 0;
    Kind current = Kind::space;
    const auto end_run = [&] {
      if (position > begin && current != Kind::space) add(begin, position, false);
      begin = position;
    };
    for_each_character(piece, [&](char32_t code_point, std::string_view bytes) {
      const Kind kind = kind_of(code_point);
      if (kind != current) end_run();
      current = kind;
      position += bytes.size();
    });
    end_run();
    return true;
  });
}

/// Puts what `write(piece, is_first, text)` appends in the place of each piece.
template <class Write> void rewrite(PieceList& list, Write write) {
  std::string text;
  text.reserve(list.text.size() + list.text.size() / 4);
  bool is_first = true;
  for (TextSpan& piece : list.pieces) {
    const std::size_t begin = text.size();
    write(list.piece(piece), is_first && list.from_start, text);
    piece = {begin, text.size()};
    is_first = false;
  }
  list.text = std::move(text);
}

void metaspace(const pre_tokenizers::Metaspace& settings, PieceList& list) {
  rewrite(list, [&](std::string_view piece, bool from_start, std::string& text) {
    const bool has_prefix = piece.starts_with(settings.replacement) || piece.starts_with(' ');
    const bool wants_prefix = settings.prepend_scheme == PrependScheme::always ||
                              (settings.prepend_scheme == PrependScheme::first && from_start);
    if (wants_prefix && !has_prefix) text += settings.replacement;
    for (const char byte : piece) {
      if (byte == ' ') {
        text += settings.replacement;
      } else {
        text += byte;
      }
    }
  });
  if (settings.split) cut_at(settings.replacement, Behavior::merged_with_next, list);
}

const CodePointSet& punctuation() { return unicode::punctuation(); }

void cut_into_words(WordPattern pattern, PieceList& list) {
  cut(list, Behavior::isolated, [&](std::string_view piece, auto add) {
    for (std::size_t position = 0; position < piece.size();) {
      const std::size_t length = word_length(pattern, piece.substr(position));
      add(position, position + length, true);
      position += length;
    }
    return false;
  });
}

/// A split that keeps every word of a known pattern.
std::optional<WordPattern> words_of(const pre_tokenizers::Split& split) {
  const bool keeps_matches =
      split.behavior == Behavior::isolated || (split.behavior == Behavior::removed && split.invert);
  return split.pattern.is_regex && keeps_matches ? known_word_pattern(split.pattern.text) : std::nullopt;
}

}  // namespace

PreTokenizerChain::PreTokenizerChain(const std::vector<PreTokenizer>& pre_tokenizers, Alphabet alphabet)
    : alphabet_(alphabet) {
  for (const PreTokenizer& pre_tokenizer : pre_tokenizers) steps_.push_back(prepare(pre_tokenizer));
}

PreTokenizerChain::Step PreTokenizerChain::prepare(const PreTokenizer& pre_tokenizer) {
  return std::visit(Overloaded{
                        [](const pre_tokenizers::Split& split) -> Step {
                          if (const auto words = words_of(split)) return Split{*words, split.behavior, split.invert};
                          return Split{TextMatcher(split.pattern), split.behavior, split.invert};
                        },
                        [](const auto& other) -> Step { return other; },
                    },
                    pre_tokenizer);
}

void PreTokenizerChain::split(const Split& split, PieceList& list) {
  if (const auto* words = std::get_if<WordPattern>(&split.pattern)) return cut_into_words(*words, list);
  const auto& matcher = std::get<TextMatcher>(split.pattern);
  cut(list, split.behavior, [&](std::string_view piece, auto add) {
    matcher.for_each_match(piece, [&](TextSpan match) { add(match.begin, match.end, !split.invert); });
    return split.invert;
  });
}

void PreTokenizerChain::byte_level(const pre_tokenizers::ByteLevel& settings, bool is_last, PieceList& list) const {
  if (settings.add_prefix_space) {
    rewrite(list, [](std::string_view piece, bool, std::string& text) {
      if (!piece.starts_with(' ')) text += ' ';
      text += piece;
    });
  }
  if (settings.use_regex) cut_into_words(WordPattern::gpt2, list);
  if (is_last && alphabet_ == Alphabet::bytes) return;
  rewrite(list, [](std::string_view piece, bool, std::string& text) {
    for (const char byte : piece) text += byte_level_alphabet()[static_cast<unsigned char>(byte)];
  });
}

void PreTokenizerChain::apply(PieceList& list) const {
  for (const Step& step : steps_) {
    const bool is_last = &step == &steps_.back();
    std::visit(Overloaded{
                   [&](const pre_tokenizers::ByteLevel& settings) { byte_level(settings, is_last, list); },
                   [&](const Split& settings) { split(settings, list); },
                   [&](const pre_tokenizers::Digits& digits) {
                     cut_at(unicode::numeric(), digits.individual ? Behavior::isolated : Behavior::contiguous, list);
                   },
                   [&](const pre_tokenizers::Metaspace& settings) { metaspace(settings, list); },
                   [&](const pre_tokenizers::Whitespace&) { cut_into_words(list); },
                   [&](const pre_tokenizers::WhitespaceSplit&) {
                     cut_at(unicode::white_space(), Behavior::removed, list);
                   },
                   [&](const pre_tokenizers::Punctuation& settings) { cut_at(punctuation(), settings.behavior, list); },
                   [&](const pre_tokenizers::Bert&) {
                     cut_at(unicode::white_space(), Behavior::removed, list);
                     cut_at(punctuation(), Behavior::isolated, list);
                   },
                   [&](const pre_tokenizers::CharDelimiterSplit& settings) {
                     cut_at(settings.delimiter, Behavior::removed, list);
                   },
               },
               step);
  }
}

bool ends_in_byte_level(const std::vector<PreTokenizer>& pre_tokenizers) {
  return !pre_tokenizers.empty() && std::holds_alternative<pre_tokenizers::ByteLevel>(pre_tokenizers.back());
}

std::optional<ByteLevelWords> as_byte_level_words(const std::vector<PreTokenizer>& pre_tokenizers) {
  if (!ends_in_byte_level(pre_tokenizers)) return std::nullopt;
  const auto& byte_level = std::get<pre_tokenizers::ByteLevel>(pre_tokenizers.back());
  if (pre_tokenizers.size() == 1 && byte_level.use_regex) {
    return ByteLevelWords{WordPattern::gpt2, byte_level.add_prefix_space};
  }
  if (pre_tokenizers.size() != 2 || byte_level.use_regex || byte_level.add_prefix_space) return std::nullopt;
  const auto* split = std::get_if<pre_tokenizers::Split>(&pre_tokenizers.front());
  const auto pattern = split ? words_of(*split) : std::nullopt;
  return pattern ? std::optional(ByteLevelWords{*pattern, false}) : std::nullopt;
}

}  // namespace monomorph::data
