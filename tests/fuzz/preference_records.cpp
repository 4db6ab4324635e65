// Pairs of answers, a record a line: what is taken as a pair, of texts or of messages, has two answers that differ.
#include "data/chat/preference_record.hpp"
#include "data/records/line_block.hpp"

#include <monomorph/data/text/utf8.hpp>

#include <algorithm>

#include "memory_file.hpp"

using namespace monomorph;

namespace {

void require_utf8(const std::string& text) {
  fuzz::require(data::valid_utf8_prefix(text) == text.size(), "what is taken of a record is UTF-8");
}

void check_texts(const data::PreferencePair& pair) {
  for (const data::Answered* of : {&pair.chosen, &pair.rejected}) {
    require_utf8(of->prompt);
    require_utf8(of->answer);
    fuzz::require(!of->answer.empty(), "an answer says something");
  }
  fuzz::require(pair.chosen.prompt == pair.rejected.prompt, "both are answers to the same");
  fuzz::require(pair.chosen.answer != pair.rejected.answer, "the answers differ");
}

void check_chats(const data::PreferencePair& pair) {
  for (const data::Answered* of : {&pair.chosen, &pair.rejected}) {
    fuzz::require(!of->messages.empty(), "an answer has messages");
    for (const data::ChatMessage& message : of->messages) require_utf8(message.content);
  }
  const bool same = std::ranges::equal(pair.chosen.messages, pair.rejected.messages, [](const auto& a, const auto& b) {
    return a.role == b.role && a.content == b.content;
  });
  fuzz::require(!same, "the answers differ");
}

void check_lines(const std::string& path, bool of_messages) {
  data::PreferenceRecords records({"/prompt", "/chosen", "/rejected"}, of_messages);
  data::LineBlockReader reader(path);
  data::LineBlock block;
  while (reader.next(block))
    data::for_each_line(block, [&](std::string_view line, std::uint64_t) {
      data::PreferencePair pair;
      if (records.read(line, pair)) return true;
      of_messages ? check_chats(pair) : check_texts(pair);
      return true;
    });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::MemoryFile file(data, size);
  for (const bool of_messages : {false, true}) check_lines(file.path(), of_messages);
  return 0;
}
