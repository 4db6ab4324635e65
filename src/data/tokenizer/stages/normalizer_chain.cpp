#include "data/tokenizer/stages/normalizer_chain.hpp"

#include "core/overloaded.hpp"
#include "data/text/characters.hpp"
#include "data/text/unicode_sets.hpp"
#include "data/tokenizer/stages/unicode_forms.hpp"

#include <monomorph/data/text/byte_level.hpp>

namespace monomorph::data {
namespace {

constexpr char32_t removed = 0xFFFFFFFF;

/// Puts `change(code point)`, a code point or `removed`, in the place of every character.
template <class Change> void change_characters(TextInWork& work, Change change) {
  std::string result;
  result.reserve(work.text.size());
  bool is_first = true;
  for_each_character(work.text, [&](char32_t code_point, std::string_view bytes) {
    const char32_t changed = change(code_point);
    if (changed == code_point) {
      result += bytes;
    } else if (changed != removed) {
      append_utf8(changed, result);
    } else if (is_first) {
      work.from_start = false;
    }
    is_first = false;
  });
  work.text = std::move(result);
}

void remove_characters(TextInWork& work, const CodePointSet& unwanted) {
  change_characters(work, [&](char32_t code_point) { return unwanted.contains(code_point) ? removed : code_point; });
}

void to_lower_case(std::string& text) {
  std::string result;
  result.reserve(text.size());
  for_each_character(text, [&](char32_t code_point, std::string_view bytes) {
    const char32_t lower = unicode::lower_case(code_point);
    if (lower == code_point) {
      result += bytes;
    } else {
      append_utf8(lower, result);
    }
    if (code_point == 0x130) append_utf8(0x307, result);
  });
  text = std::move(result);
}

const CodePointSet nmt_removed{{0x01, 0x08}, {0x0B, 0x0B}, {0x0E, 0x1F}, {0x7F, 0x7F}, {0x8F, 0x8F}, {0x9F, 0x9F}};
const CodePointSet nmt_spaces{{0x09, 0x0A},     {0x0C, 0x0D},     {0x1680, 0x1680}, {0x200B, 0x200F},
                              {0x2028, 0x2029}, {0x2581, 0x2581}, {0xFEFF, 0xFEFF}, {0xFFFD, 0xFFFD}};
// What BERT calls Chinese characters: these blocks, of Han characters only.
const CodePointSet chinese{{0x3400, 0x4DBF},   {0x4E00, 0x9FFF},   {0xF900, 0xFAFF},   {0x20000, 0x2A6DF},
                           {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0x2F800, 0x2FA1F}};

void apply_nmt(TextInWork& work) {
  change_characters(work, [](char32_t code_point) {
    if (code_point > 0x20 && code_point < 0x7F) return code_point;
    if (nmt_removed.contains(code_point)) return removed;
    return nmt_spaces.contains(code_point) ? U' ' : code_point;
  });
}

void strip(const normalizers::Strip& what, TextInWork& work) {
  const CodePointSet& space = unicode::white_space();
  std::size_t begin = 0, end = 0, position = 0;
  bool is_leading = true;
  for_each_character(work.text, [&](char32_t code_point, std::string_view bytes) {
    position += bytes.size();
    const bool is_space = space.contains(code_point);
    if (is_leading && is_space) begin = position;
    if (!is_space) {
      is_leading = false;
      end = position;
    }
  });
  if (!what.left || work.continues) begin = 0;
  if (!what.right) end = work.text.size();
  if (begin > 0) work.from_start = false;
  work.text = end > begin ? work.text.substr(begin, end - begin) : "";
}

void separate_chinese(std::string& text) {
  std::string result;
  result.reserve(text.size());
  for_each_character(text, [&](char32_t code_point, std::string_view bytes) {
    if (!chinese.contains(code_point)) {
      result += bytes;
      return;
    }
    result += ' ';
    result += bytes;
    result += ' ';
  });
  text = std::move(result);
}

void apply_bert(const normalizers::Bert& what, TextInWork& work) {
  if (what.clean_text) {
    change_characters(work, [](char32_t code_point) {
      if (code_point > 0x20 && code_point < 0x7F) return code_point;
      if (unicode::bert_control().contains(code_point)) return removed;
      return unicode::white_space().contains(code_point) ? U' ' : code_point;
    });
  }
  if (what.handle_chinese_characters) separate_chinese(work.text);
  if (what.strip_accents) {
    to_unicode_form(normalizers::UnicodeForm::nfd, work.text);
    remove_characters(work, unicode::bert_accent());
  }
  if (what.lowercase) to_lower_case(work.text);
}

}  // namespace

NormalizerChain::Step NormalizerChain::prepare(const Normalizer& normalizer) {
  return std::visit(Overloaded{
                        [](const normalizers::Replace& replace) -> Step {
                          return Replacement{TextMatcher(replace.pattern), replace.content};
                        },
                        [](const normalizers::Precompiled& map) -> Step {
                          return PrecompiledCharacterMap(map.character_map);
                        },
                        [](const auto& other) -> Step { return other; },
                    },
                    normalizer);
}

NormalizerChain::NormalizerChain(const std::vector<Normalizer>& normalizers) {
  for (const Normalizer& normalizer : normalizers) steps_.push_back(prepare(normalizer));
}

void NormalizerChain::replace(const Replacement& replacement, TextInWork& work) {
  std::string result;
  std::size_t copied = 0;
  replacement.matcher.for_each_match(work.text, [&](TextSpan match) {
    result.append(work.text, copied, match.begin - copied);
    result += replacement.content;
    copied = match.end;
    // What takes the place of several characters counts as the last of them, as in the package.
    const auto matched = std::string_view(work.text).substr(match.begin, match.end - match.begin);
    const bool keeps_start = matched.empty() || (!replacement.content.empty() && is_one_character(matched));
    if (match.begin == 0 && !keeps_start) work.from_start = false;
  });
  if (copied == 0 && result.empty()) return;
  result.append(work.text, copied);
  work.text = std::move(result);
}

void NormalizerChain::apply(TextInWork& work) const {
  const Overloaded visitor{
      [&](const normalizers::Unicode& unicode) { to_unicode_form(unicode.form, work.text); },
      [&](const normalizers::Lowercase&) { to_lower_case(work.text); },
      [&](const normalizers::StripAccents&) { remove_characters(work, unicode::combining_mark()); },
      [&](const normalizers::Nmt&) { apply_nmt(work); },
      [&](const normalizers::ByteLevel&) { work.text = to_byte_level(work.text); },
      [&](const normalizers::Strip& what) { strip(what, work); },
      [&](const Replacement& replacement) { replace(replacement, work); },
      [&](const normalizers::Prepend& prefix) {
        if (!work.text.empty() && !work.continues) work.text.insert(0, prefix.text);
      },
      [&](const normalizers::Bert& what) { apply_bert(what, work); },
      [&](const PrecompiledCharacterMap& map) {
        std::string result;
        map.apply(work.text, result);
        work.text = std::move(result);
      },
  };
  for (const Step& step : steps_) std::visit(visitor, step);
}

}  // namespace monomorph::data
