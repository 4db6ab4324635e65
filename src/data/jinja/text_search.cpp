#include "data/jinja/text_search.hpp"

#include "data/text/python_text.hpp"

#include <algorithm>

namespace monomorph::data::jinja {
namespace {

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (text = python::left_stripped(text); !text.empty();) {
    std::size_t end = 0;
    while (end < text.size()) {
      const Utf8Character next = first_character(text.substr(end));
      if (python::is_space(next.code_point)) break;
      end += next.n_bytes;
    }
    words.push_back(text.substr(0, end));
    text = python::left_stripped(text.substr(end));
  }
  return words;
}

}  // namespace

std::vector<std::string_view> split_by(std::string_view text, std::string_view separator, std::int64_t most,
                                       bool from_right) {
  std::vector<std::string_view> parts;
  for (; most != 0; --most) {
    const std::size_t at = from_right ? text.rfind(separator) : text.find(separator);
    if (at == std::string_view::npos) break;
    const std::string_view before = text.substr(0, at), after = text.substr(at + separator.size());
    parts.push_back(from_right ? after : before);
    text = from_right ? before : after;
  }
  parts.push_back(text);
  if (from_right) std::ranges::reverse(parts);
  return parts;
}

std::vector<std::string_view> split_by_space(std::string_view text, std::int64_t most, bool from_right) {
  std::vector<std::string_view> words = words_of(text);
  const auto n = static_cast<std::int64_t>(words.size());
  if (most < 0 || n <= most + 1) return words;
  const auto kept = static_cast<std::size_t>(most);
  if (from_right) {
    const std::string_view last = words[words.size() - kept - 1];
    const auto end = static_cast<std::size_t>(last.data() + last.size() - text.data());
    std::vector<std::string_view> parts{text.substr(0, end)};
    parts.insert(parts.end(), words.end() - static_cast<std::ptrdiff_t>(kept), words.end());
    return parts;
  }
  const auto begin = static_cast<std::size_t>(words[kept].data() - text.data());
  words.resize(kept);
  words.push_back(text.substr(begin));
  return words;
}

std::string replaced(Budget& budget, std::string_view text, std::string_view old, std::string_view with,
                     std::int64_t most) {
  budget.make(text.size());
  std::string result;
  std::size_t at = 0;
  for (; most != 0; --most) {
    // Behind an empty old text a character is passed on.
    const std::size_t found = text.find(old, at);
    if (found == std::string_view::npos) break;
    budget.make(with.size());
    result.append(text.substr(at, found - at)).append(with);
    at = found + old.size();
    if (!old.empty()) continue;
    if (at >= text.size()) break;
    const std::size_t n_bytes = first_character(text.substr(at)).n_bytes;
    result += text.substr(at, n_bytes);
    at += n_bytes;
  }
  return result.append(text.substr(std::min(at, text.size())));
}

}  // namespace monomorph::data::jinja
