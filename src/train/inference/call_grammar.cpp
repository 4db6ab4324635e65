#include "train/inference/call_grammar.hpp"

#include "train/inference/json_tree.hpp"

namespace monomorph::train {
namespace {

constexpr std::string_view call_mark = "<tool_call>", end_mark = "</tool_call>";

/// Without white space and quotes, which templates set in different ways.
std::string bare(std::string_view text) {
  std::string kept;
  for (const char one : text)
    if (std::string_view(" \t\r\n\"'").find(one) == std::string_view::npos) kept += one;
  return kept;
}

}  // namespace

CallForm call_form_in(std::string_view text, std::string_view name, std::string_view argument) {
  const std::size_t value = text.rfind(argument);
  const std::size_t begin = value == std::string_view::npos ? value : text.rfind(name, value);
  if (begin == std::string_view::npos) return {.marked = false};
  const std::string before = bare(text.substr(0, begin)),
                    between = bare(text.substr(begin + name.size(), value - begin - name.size()));
  return {.marked = before.ends_with(std::string(call_mark) + "{name:"),
          .arguments = between.starts_with(",parameters:") ? "parameters" : "arguments"};
}

void CallGrammar::add_call(std::int32_t from, std::string_view arguments, std::int32_t to) {
  const std::int32_t open = rules_.spaced(builder_.text(from, "{"));
  const std::int32_t colon = builder_.text(rules_.spaced(builder_.text(open, "\"name\"")), ":");
  const std::int32_t names = rules_.spaced(colon), valued = builder_.node();
  for (const CallableTool& tool : tools_) {
    const std::int32_t begin = builder_.node();
    builder_.skip(names, begin);
    const std::int32_t named = builder_.text(begin, json_string(tool.name));
    const std::int32_t next = rules_.spaced(builder_.text(rules_.spaced(named), ","));
    const std::int32_t keyed = builder_.text(next, json_string(arguments));
    builder_.call(rules_.spaced(builder_.text(rules_.spaced(keyed), ":")), tool.arguments, valued);
  }
  builder_.byte(rules_.spaced(valued), '}', to);
}

void CallGrammar::add_marked_call(std::int32_t behind_mark, std::int32_t to) {
  const std::int32_t called = builder_.node();
  add_call(rules_.spaced(behind_mark), form_.arguments, called);
  builder_.skip(builder_.text(rules_.spaced(called), end_mark), to);
}

void CallGrammar::add_calls(std::int32_t from, bool several, std::int32_t to) {
  const std::int32_t first = builder_.node(), called = builder_.node();
  builder_.skip(from, first);
  if (form_.marked)
    add_marked_call(builder_.text(first, call_mark), called);
  else
    add_call(first, form_.arguments, called);
  builder_.skip(called, to);
  if (!several) return;
  builder_.skip(rules_.spaced(form_.marked ? called : builder_.text(called, ";")), first);
}

/// Nothing is asked of text but that a mark in it has a call behind it: states of it are the beginnings of the mark.
void CallGrammar::add_text_with_calls(std::int32_t from, std::int32_t to) {
  std::vector<std::int32_t> begun(call_mark.size());
  for (std::int32_t& node : begun) node = builder_.node();
  const std::int32_t behind_mark = builder_.node();
  const std::int32_t start = builder_.node();
  builder_.skip(from, start);
  const auto add_text = [&](std::int32_t at, std::size_t n_begun, std::string_view others) {
    builder_.set_free(at);
    builder_.skip(at, to);
    int least = 0;
    for (int byte = 0; byte < 256; ++byte) {
      const char one = static_cast<char>(byte);
      const bool goes_on = one == call_mark[n_begun], begins = one == call_mark[0],
                 is_other = others.find(one) != std::string_view::npos;
      if (!goes_on && !begins && !is_other) continue;
      if (least < byte) builder_.bytes(at, least, byte - 1, begun[0]);
      least = byte + 1;
      if (is_other) continue;
      const bool whole = goes_on && n_begun + 1 == call_mark.size();
      builder_.byte(at, one, whole ? behind_mark : begun[goes_on ? n_begun + 1 : 1]);
    }
    if (least < 256) builder_.bytes(at, least, 255, begun[0]);
  };
  for (std::size_t i = 0; i < begun.size(); ++i) add_text(begun[i], i, "");
  add_marked_call(behind_mark, begun[0]);
  // What may come first is white space, then text that is no JSON, or calls without marks.
  const std::string_view json = "{[", space = " \t\r\n";
  add_text(start, 0, std::string(json) + std::string(space));
  for (const char blank : space) builder_.byte(start, blank, start);
  const std::int32_t object = builder_.node();
  builder_.skip(start, object);
  const CallForm bare_form{.marked = false, .arguments = form_.arguments};
  CallGrammar(builder_, rules_, bare_form, tools_).add_calls(object, true, to);
}

}  // namespace monomorph::train
