#include "data/chat/token_marks.hpp"

#include "data/text/unicode_sets.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {
namespace {

constexpr std::size_t npos = std::string_view::npos;

/// What of `text` is left from where `shown`, but for a space that was put before it, is another text.
std::string_view rest_from_difference(std::string_view text, std::string_view shown) {
  if (shown.starts_with(' ') && !text.starts_with(' ')) shown.remove_prefix(1);
  const auto [kept_end, ignored] = std::mismatch(text.begin(), text.end(), shown.begin(), shown.end());
  return text.substr(static_cast<std::size_t>(kept_end - text.begin()));
}

[[noreturn]] void throw_changed_text(std::string_view rest) {
  throw Error("CHAT-13", fmt::format("the tokenizer does not give {} back as it was, so there is no telling which of "
                                     "its tokens count; use a tokenizer that keeps the text",
                                     in_quotes(rest.substr(0, 40))));
}

}  // namespace

TokenMarks::TokenMarks(const Tokenizer& tokenizer) : tokenizer_(tokenizer) {
  for (const AddedToken& token : tokenizer.definition().added_tokens) added_.emplace(token.id, &token);
}

void TokenMarks::append(std::string_view text, std::span<const std::int32_t> ids,
                        std::span<const CountedStretch> stretches, std::vector<bool>& counted) const {
  auto stretch = stretches.begin();
  std::size_t begin = 0;
  for (const std::size_t end : ends_of(text, ids)) {
    // A token that shows nothing belongs to the character that comes next.
    const std::size_t reach = std::max(end, begin + 1);
    while (stretch->end <= begin && stretch + 1 != stretches.end()) ++stretch;
    bool counts = stretch->counted;
    for (auto next = stretch; next->end < reach && next + 1 != stretches.end(); ++next) counts |= (next + 1)->counted;
    counted.push_back(counts);
    begin = end;
  }
}

std::vector<std::size_t> TokenMarks::ends_of(std::string_view text, std::span<const std::int32_t> ids) const {
  std::vector<std::size_t> ends;
  std::size_t at = 0;
  while (ends.size() < ids.size()) {
    const AddedToken* const token = added(ids[ends.size()]);
    if (token == nullptr) {
      pass_ordinary(text, ids.subspan(ends.size()), at, ends);
      continue;
    }
    const std::size_t end = end_of_added(text, at, *token);
    if (end == npos) throw_changed_text(text.substr(at));
    ends.push_back(at = end);
  }
  if (at != text.size()) throw_changed_text(text.substr(at));
  return ends;
}

const AddedToken* TokenMarks::added(std::int32_t id) const {
  const auto found = added_.find(id);
  return found == added_.end() ? nullptr : found->second;
}

std::size_t TokenMarks::end_of_added(std::string_view text, std::size_t at, const AddedToken& token) const {
  if (token.lstrip) at += unicode::leading_white_space(text.substr(at));
  if (!text.substr(at).starts_with(token.content)) return npos;
  at += token.content.size();
  return token.rstrip ? at + unicode::leading_white_space(text.substr(at)) : at;
}

void TokenMarks::pass_ordinary(std::string_view text, std::span<const std::int32_t> ids, std::size_t& at,
                               std::vector<std::size_t>& ends) const {
  std::string shown;
  std::vector<std::size_t> sizes;
  const AddedToken* next = nullptr;
  for (const std::int32_t id : ids) {
    if ((next = added(id)) != nullptr) break;
    shown += tokenizer_.bytes_of(id);
    sizes.push_back(shown.size());
  }
  const auto fits = [&](std::size_t n_inserted) {
    const std::string_view kept = std::string_view(shown).substr(n_inserted);
    if (!text.substr(at).starts_with(kept)) return false;
    const std::size_t end = at + kept.size();
    return next == nullptr ? end == text.size() : end_of_added(text, end, *next) != npos;
  };
  // Tokenizers in the style of SentencePiece put a space before a text.
  const std::size_t n_inserted = !fits(0) && shown.starts_with(' ') ? 1 : 0;
  if (!fits(n_inserted)) throw_changed_text(rest_from_difference(text.substr(at), shown));
  for (const std::size_t size : sizes) ends.push_back(at + size - std::min(size, n_inserted));
  at = ends.back();
}

}  // namespace monomorph::data
