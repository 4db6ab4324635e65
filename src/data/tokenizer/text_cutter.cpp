#include "data/tokenizer/text_cutter.hpp"

#include "core/overloaded.hpp"
#include "data/text/characters.hpp"
#include "data/text/code_point_set.hpp"
#include "data/tokenizer/stages/pre_tokenizer_chain.hpp"

#include <monomorph/data/text/character_class.hpp>

#include <algorithm>

namespace monomorph::data {
namespace {

constexpr std::string_view space = " ", metaspace_mark = "\xE2\x96\x81";

/// Letters of which none goes on with the character before it, as marks, some letters of Indic scripts and the parts of
/// Korean syllables do.
const CodePointSet plain_letters{{'A', 'Z'},       {'a', 'z'},       {0xC0, 0xD6},    {0xD8, 0xF6},
                                 {0xF8, 0x24F},    {0x386, 0x386},   {0x388, 0x3FF},  {0x400, 0x481},
                                 {0x48A, 0x52F},   {0x5D0, 0x5EA},   {0x620, 0x64A},  {0x3041, 0x3096},
                                 {0x30A1, 0x30FA}, {0x4E00, 0x9FFF}, {0xAC00, 0xD7A3}};

bool is_letter(char32_t code_point) {
  const auto kind = character_class(code_point);
  return kind == CharacterClass::uppercase || kind == CharacterClass::lowercase || kind == CharacterClass::caseless;
}

/// The last character of valid UTF-8 that is not empty.
std::string_view last_character(std::string_view text) {
  std::size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  return text.substr(begin);
}

bool ends_in_letter(std::string_view text) {
  return !text.empty() && is_letter(first_character(last_character(text)).code_point);
}

/// What it makes of a character depends at most on marks beside it and on spaces beside a space.
bool is_local(const Normalizer& normalizer) {
  return std::visit(Overloaded{
                        [](const normalizers::ByteLevel&) { return false; },
                        [](const normalizers::Replace& replace) {
                          const TextPattern& pattern = replace.pattern;
                          return (pattern.text == space || (pattern.is_regex && pattern.text == " {2,}")) &&
                                 (replace.content == space || replace.content == metaspace_mark);
                        },
                        [](const auto&) { return true; },
                    },
                    normalizer);
}

/// It does something else at the beginning of a text than in its middle.
bool marks_beginning(const Normalizer& normalizer) {
  const auto* strip = std::get_if<normalizers::Strip>(&normalizer);
  return std::holds_alternative<normalizers::Prepend>(normalizer) || (strip && strip->left);
}

using Marks = std::vector<std::string_view>;

/// What stands where pieces are cut; nothing if they are not, or not always.
Marks marks_of_cuts(const TokenizerDefinition& definition, const Model& model) {
  const auto* bpe = std::get_if<CharacterBpe>(&model);
  const bool model_cuts = bpe && bpe->parts_at_metaspace();
  if (definition.pre_tokenizers.empty()) return model_cuts ? Marks{metaspace_mark} : Marks{};
  if (as_byte_level_words(definition.pre_tokenizers)) return {space};
  return std::visit(
      Overloaded{
          [](const pre_tokenizers::Whitespace&) { return Marks{space}; },
          [](const pre_tokenizers::WhitespaceSplit&) { return Marks{space}; },
          [](const pre_tokenizers::Bert&) { return Marks{space}; },
          [&](const pre_tokenizers::Metaspace& settings) {
            const bool is_last = definition.pre_tokenizers.size() == 1;
            const bool cuts = settings.split || (model_cuts && is_last);
            return cuts && settings.replacement == metaspace_mark ? Marks{space, metaspace_mark} : Marks{};
          },
          [](const auto&) { return Marks{}; },
      },
      definition.pre_tokenizers.front());
}

/// Whether the token is never found across a cut and, found right before one, leaves what follows as it is.
bool stays_on_one_side(const AddedToken& token, const std::string& content, bool beginnings_are_marked) {
  if (content.empty()) return false;
  const std::size_t second = first_character(content).n_bytes;
  for (const std::string_view mark : {space, metaspace_mark}) {
    if (content.find(mark, second) != std::string::npos) return false;
  }
  return !ends_in_letter(content) || !(token.rstrip || beginnings_are_marked);
}

bool stay_on_one_side(const TokenizerDefinition& definition, const NormalizerChain& normalizers) {
  const bool beginnings_are_marked =
      std::any_of(definition.normalizers.begin(), definition.normalizers.end(), marks_beginning);
  return std::all_of(definition.added_tokens.begin(), definition.added_tokens.end(), [&](const AddedToken& token) {
    TextInWork work{token.content};
    if (token.normalized) normalizers.apply(work);
    return stays_on_one_side(token, token.content, beginnings_are_marked) &&
           stays_on_one_side(token, work.text, beginnings_are_marked);
  });
}

}  // namespace

TextCutter::TextCutter(const TokenizerDefinition& definition, const NormalizerChain& normalizers, const Model& model)
    : normalizers_(normalizers) {
  const bool are_local = std::all_of(definition.normalizers.begin(), definition.normalizers.end(), is_local);
  if (are_local && stay_on_one_side(definition, normalizers)) marks_ = marks_of_cuts(definition, model);
}

std::size_t TextCutter::last_cut(std::string_view text) const {
  if (marks_.empty()) return 0;
  for (std::size_t found = text.rfind(' '); found != std::string_view::npos && found > 0;
       found = text.rfind(' ', found - 1)) {
    if (is_cut(text, found)) return found;
  }
  return 0;
}

bool TextCutter::is_cut(std::string_view text, std::size_t space_at) const {
  std::size_t begin = space_at;
  for (int i = 0; i < 2; ++i) {
    if (begin == 0) return false;
    begin -= last_character(text.substr(0, begin)).size();
    if (!plain_letters.contains(first_character(text.substr(begin)).code_point)) return false;
  }
  const std::size_t next = space_at + 1;
  if (next == text.size()) return false;
  const Utf8Character letter = first_character(text.substr(next));
  return plain_letters.contains(letter.code_point) &&
         normalizes_apart(text.substr(begin, space_at - begin), text.substr(space_at, 1 + letter.n_bytes));
}

// What the kinds of normalizers promise is looked at once more with the letters at hand: tables of characters hold what
// they like.
bool TextCutter::normalizes_apart(std::string_view before, std::string_view after) const {
  const auto normalized = [this](std::string_view text) {
    TextInWork work{std::string(text), false, true};
    normalizers_.apply(work);
    return work.text;
  };
  const std::string left = normalized(before), right = normalized(after);
  const bool is_marked =
      std::any_of(marks_.begin(), marks_.end(), [&](std::string_view mark) { return right.starts_with(mark); });
  return ends_in_letter(left) && is_marked && normalized(std::string(before).append(after)) == left + right;
}

}  // namespace monomorph::data
