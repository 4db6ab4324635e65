// Pairs of answers, a record a line: what is taken as a pair, of texts or of messages for templates of both
// kinds, has two answers that differ.
#include "data/chat/preference_record.hpp"
#include "data/jinja/operators.hpp"
#include "data/records/line_block.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <algorithm>

#include "memory_file.hpp"

using namespace monomorph;

namespace {

void require_utf8(const std::string& text) {
  fuzz::require(data::valid_utf8_prefix(text) == text.size(), "what is taken of a record is UTF-8");
}

void check_pair(const data::AnsweredText& chosen, const data::AnsweredText& rejected) {
  for (const data::AnsweredText* of : {&chosen, &rejected}) {
    require_utf8(of->prompt);
    require_utf8(of->answer);
    fuzz::require(!of->answer.empty(), "an answer says something");
  }
  fuzz::require(chosen.prompt == rejected.prompt, "both are answers to the same");
  fuzz::require(chosen.answer != rejected.answer, "the answers differ");
}

void check_pair(const std::vector<data::ChatMessage>& chosen, const std::vector<data::ChatMessage>& rejected) {
  for (const auto* of : {&chosen, &rejected}) {
    fuzz::require(!of->empty(), "an answer has messages");
    for (const data::ChatMessage& message : *of) require_utf8(message.content);
  }
  const bool same = std::ranges::equal(chosen, rejected, [](const auto& a, const auto& b) {
    return a.role == b.role && a.content == b.content;
  });
  fuzz::require(!same, "the answers differ");
}

void check_pair(const data::TemplatedChat& chosen, const data::TemplatedChat& rejected) {
  for (const data::TemplatedChat* of : {&chosen, &rejected})
    fuzz::require(std::ranges::any_of(of->messages, &data::TemplatedMessage::counted), "an answer says something");
  const bool same = std::ranges::equal(chosen.messages, rejected.messages,
                                       [](const auto& a, const auto& b) { return data::jinja::equal(a.said, b.said); });
  fuzz::require(!same, "the answers differ");
}

template <class Answered> void check_lines(const std::string& path, data::AnswerForm form) {
  data::PreferenceRecords records({"/prompt", "/chosen", "/rejected"}, form);
  data::LineBlockReader reader(path);
  data::LineBlock block;
  while (reader.next(block))
    data::for_each_line(block, [&](std::string_view line, std::uint64_t) {
      data::PreferencePair pair;
      if (!records.read(line, pair)) check_pair(std::get<Answered>(pair.chosen), std::get<Answered>(pair.rejected));
      return true;
    });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  check_lines<data::AnsweredText>(file.path(), data::AnswerForm::text);
  check_lines<std::vector<data::ChatMessage>>(file.path(), data::AnswerForm::messages);
  check_lines<data::TemplatedChat>(file.path(), data::AnswerForm::templated);
  return 0;
}
