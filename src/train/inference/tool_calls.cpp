#include "train/inference/tool_calls.hpp"

#include "train/inference/json_spans.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace monomorph::train {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view opening = "<tool_call>", closing = "</tool_call>", white_space = " \t\r\n";
constexpr std::size_t npos = std::string_view::npos;

/// How objects begin that may be calls, without white space.
constexpr std::string_view beginnings[] = {R"({"name")", R"({"type")", R"({"function")", R"({"arguments")",
                                           R"({"parameters")"};

/// Where the mark stands that ends a call; npos if it has not come. One within a string of the call's JSON ends
/// nothing.
std::size_t end_of_call(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(white_space);
  if (begin == npos || (text[begin] != '{' && text[begin] != '[')) return text.find(closing);
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (in_string && text[i] == '\\')
      ++i;
    else if (text[i] == '"')
      in_string = !in_string;
    else if (!in_string && text.substr(i).starts_with(closing))
      return i;
  }
  return npos;
}

/// What a JSON string says.
std::string said_by(std::string_view string) { return ordered_json::parse(string).get<std::string>(); }

/// A call's arguments are an object, whose numbers may have more digits than any type, or the text of one, with white
/// space behind it or without.
std::optional<std::string> arguments_of(std::string_view call) {
  auto value = member_of(call, "arguments");
  if (!value) value = member_of(call, "parameters");
  if (!value) return std::nullopt;
  if (value->starts_with('{')) return std::string(*value);
  if (!value->starts_with('"')) return std::nullopt;
  std::string text = said_by(*value);
  text.erase(text.find_last_not_of(white_space) + 1);
  if (!text.starts_with('{') || end_of_json(text) != text.size() || !is_json(text)) return std::nullopt;
  return text;
}

/// @param object that is_json()
std::optional<ToolCall> call_of(std::string_view object, const std::set<std::string>& names) {
  if (!object.starts_with('{')) return std::nullopt;
  const std::string_view inner = member_of(object, "function").value_or("");
  const std::string_view call = inner.starts_with('{') ? inner : object;
  const std::string_view name = member_of(call, "name").value_or("");
  if (!name.starts_with('"') || !names.contains(said_by(name))) return std::nullopt;
  auto arguments = arguments_of(call);
  if (!arguments) return std::nullopt;
  return ToolCall{said_by(name), *std::move(arguments)};
}

/// Whether `text` begins like an object that may be a call, or a list of them; nothing: more of it will tell.
std::optional<bool> begins_like_objects(std::string_view text) {
  std::string compact;
  bool in_list = false;
  for (const char c : text) {
    if (white_space.find(c) != npos) continue;
    if (c == '[' && compact.empty() && !in_list) {
      in_list = true;
      continue;
    }
    compact += c;
    const auto fits = [&](std::string_view beginning) { return beginning.starts_with(compact); };
    if (std::ranges::none_of(beginnings, fits)) return false;
    if (std::ranges::find(beginnings, compact) != std::end(beginnings)) return true;
  }
  return std::nullopt;
}

/// How many bytes at the end of `text` may be the beginning of `word`.
std::size_t begun(std::string_view text, std::string_view word) {
  for (std::size_t size = std::min(text.size(), word.size() - 1); size > 0; --size)
    if (text.ends_with(word.substr(0, size))) return size;
  return 0;
}

}  // namespace

ToolCallFinder::Found& ToolCallFinder::Found::operator+=(Found more) {
  text += more.text;
  std::ranges::move(more.calls, std::back_inserter(calls));
  return *this;
}

ToolCallFinder::Found ToolCallFinder::push(std::string_view more) {
  Found found;
  held_ += more;
  if (form_ == Form::unknown) {
    const auto objects = begins_like_objects(held_);
    if (!objects) return found;
    form_ = *objects ? Form::objects : Form::text;
  }
  if (form_ == Form::text) take_text(found, false);
  return found;
}

ToolCallFinder::Found ToolCallFinder::finish() {
  Found found;
  if (form_ != Form::text) {
    if (auto calls = calls_of(held_))
      found.calls = *std::move(calls);
    else
      found.text = std::move(held_);
    return found;
  }
  // A model may end its turn in the place of the closing mark, and leave a string open.
  auto calls = in_call_ ? calls_of(std::string_view(held_).substr(opening.size())) : std::nullopt;
  if (!calls) take_text(found, true);
  if (!calls && in_call_) calls = calls_of(std::string_view(held_).substr(opening.size()));
  if (calls)
    add(*std::move(calls), found);
  else
    show(held_, found);
  if (!after_call_) found.text += space_;
  return found;
}

void ToolCallFinder::take_text(Found& found, bool at_end) {
  for (;;) {
    if (in_call_) {
      const std::string_view call = std::string_view(held_).substr(opening.size());
      const std::size_t end = at_end ? call.find(closing) : end_of_call(call);
      if (end == npos) return;
      take_marked_call(opening.size() + end, found);
      continue;
    }
    const std::size_t begin = held_.find(opening);
    in_call_ = begin != npos;
    const std::size_t n_shown = in_call_ ? begin : held_.size() - begun(held_, opening);
    show(std::string_view(held_).substr(0, n_shown), found);
    held_.erase(0, n_shown);
    if (!in_call_) return;
  }
}

void ToolCallFinder::take_marked_call(std::size_t end, Found& found) {
  if (auto calls = calls_of(std::string_view(held_).substr(opening.size(), end - opening.size())))
    add(*std::move(calls), found);
  else
    show(std::string_view(held_).substr(0, end + closing.size()), found);
  held_.erase(0, end + closing.size());
  in_call_ = false;
}

void ToolCallFinder::show(std::string_view text, Found& found) {
  space_ += text;
  if (after_call_ && !has_shown_) space_.erase(0, std::min(space_.find_first_not_of(white_space), space_.size()));
  const std::size_t n_shown = space_.find_last_not_of(white_space) + 1;
  after_call_ &= n_shown == 0;
  has_shown_ |= n_shown != 0;
  found.text.append(space_, 0, n_shown);
  space_.erase(0, n_shown);
}

void ToolCallFinder::add(std::vector<ToolCall> calls, Found& found) {
  found += Found{"", std::move(calls)};
  space_.clear();
  after_call_ = true;
}

std::optional<std::vector<ToolCall>> ToolCallFinder::calls_of(std::string_view text) const {
  std::vector<ToolCall> calls;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n;"), text.size()));
    if (text.empty()) break;
    const std::size_t end = end_of_json(text);
    if (end == npos) return std::nullopt;
    const std::string_view value = text.substr(0, end);
    if (!is_json(value)) return std::nullopt;
    text.remove_prefix(end);
    for (const std::string_view object : value.starts_with('[') ? items_of(value) : std::vector{value}) {
      auto call = call_of(object, names_);
      if (!call) return std::nullopt;
      calls.push_back(*std::move(call));
    }
  }
  return calls.empty() ? std::nullopt : std::optional(std::move(calls));
}

}  // namespace monomorph::train
