#include "data/chat/preference_record.hpp"

#include "data/chat/chat_record.hpp"
#include "data/records/json_kind.hpp"
#include "data/records/line_failure.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

namespace monomorph::data {
namespace {

namespace dom = simdjson::dom;

std::optional<dom::element> value_at(dom::element record, const FieldPointer& field) {
  if (!find_field(record, field) || record.is_null()) return std::nullopt;
  return record;
}

/// One record.
class PairReader {
 public:
  PairReader(const dom::element& record, const std::vector<FieldPointer>& fields, bool numbers_are_kept)
      : record_(record), fields_(fields), numbers_are_kept_(numbers_are_kept) {}

  PreferencePair texts() const {
    PreferencePair pair{{.prompt = {}, .answer = std::string(text(1)), .messages = {}},
                        {.prompt = {}, .answer = std::string(text(2)), .messages = {}}};
    if (value_at(record_, fields_[0]))
      pair.chosen.prompt = pair.rejected.prompt = text(0);
    else
      part_common_text(pair);
    const auto is_blank = [](const std::string& answer) {
      return answer.find_first_not_of(" \t\r\n") == std::string::npos;
    };
    check(pair.chosen.answer == pair.rejected.answer, is_blank(pair.chosen.answer) || is_blank(pair.rejected.answer));
    return pair;
  }

  PreferencePair chats() const {
    std::vector<ChatMessage> chosen = messages(1), rejected = messages(2), prompt;
    const auto asked = value_at(record_, fields_[0]);
    if (asked && asked->is_array())
      prompt = read_chat_messages(*asked, numbers_are_kept_);
    else  // a text beside lists of messages is the first of these once more
      prompt = take_common_messages(chosen, rejected);
    check(same(chosen, rejected), says_nothing(chosen) || says_nothing(rejected));
    for (ChatMessage& message : prompt) message.counted = false;
    return {{.prompt = {}, .answer = {}, .messages = joined(prompt, chosen)},
            {.prompt = {}, .answer = {}, .messages = joined(prompt, rejected)}};
  }

 private:
  static bool equal(const ChatMessage& a, const ChatMessage& b) { return a.role == b.role && a.content == b.content; }
  static bool same(const std::vector<ChatMessage>& a, const std::vector<ChatMessage>& b) {
    return std::ranges::equal(a, b, equal);
  }
  static bool says_nothing(const std::vector<ChatMessage>& messages) {
    return std::ranges::none_of(messages, [](const ChatMessage& message) {
      return message.role == ChatRole::assistant && message.counted;
    });
  }
  static std::vector<ChatMessage> joined(std::vector<ChatMessage> first, const std::vector<ChatMessage>& then) {
    first.insert(first.end(), then.begin(), then.end());
    return first;
  }

  static void check(bool same, bool says_nothing) {
    if (same)
      throw Error("PREF-02",
                  "the chosen and the rejected answer are the same, so that there is nothing to learn; "
                  "leave the record out");
    if (says_nothing) throw Error("PREF-02", "one of the answers says nothing; leave the record out");
  }

  dom::element answer_at(std::size_t i) const {
    const auto value = value_at(record_, fields_[i]);
    if (!value)
      throw Error("PREF-01", fmt::format("the record has no field {}; name the fields with --prompt, --chosen and "
                                         "--rejected",
                                         in_quotes(fields_[i].text())));
    return *value;
  }

  std::string_view text(std::size_t i) const {
    const dom::element value = answer_at(i);
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS)
      throw Error("PREF-01", fmt::format("the field {} is {}, not text; lists of messages need a --template",
                                         in_quotes(fields_[i].text()), json_kind(value)));
    return text;
  }

  std::vector<ChatMessage> messages(std::size_t i) const {
    const dom::element value = answer_at(i);
    if (!value.is_array())
      throw Error("PREF-01",
                  fmt::format("the field {} is {}, not a list of messages; plain texts are packed without --template",
                              in_quotes(fields_[i].text()), json_kind(value)));
    return read_chat_messages(value, numbers_are_kept_);
  }

  /// Takes from both what they begin with alike, and gives it.
  static std::vector<ChatMessage> take_common_messages(std::vector<ChatMessage>& a, std::vector<ChatMessage>& b) {
    const auto end = std::ranges::mismatch(a, b, equal).in1;
    const std::vector<ChatMessage> common(a.begin(), end);
    if (common.size() == a.size() && common.size() == b.size()) return {};  // which is reported as it stands
    a.erase(a.begin(), a.begin() + std::ssize(common));
    b.erase(b.begin(), b.begin() + std::ssize(common));
    return common;
  }

  /// Likewise, of texts: up to a space before where they part, or to the beginning of a character.
  static void part_common_text(PreferencePair& pair) {
    std::string &a = pair.chosen.answer, &b = pair.rejected.answer;
    auto end = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    if (end == a.size() && end == b.size()) return;
    const auto continues = [](const std::string& text, std::size_t at) {
      return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u;
    };
    while (end > 0 && (continues(a, end) || continues(b, end))) --end;
    if (end > 0 && a[end - 1] == ' ') --end;
    pair.chosen.prompt = pair.rejected.prompt = a.substr(0, end);
    a.erase(0, end);
    b.erase(0, end);
  }

  const dom::element& record_;
  const std::vector<FieldPointer>& fields_;
  bool numbers_are_kept_;
};

}  // namespace

PreferenceRecords::PreferenceRecords(const std::array<std::string, 3>& fields, bool of_messages)
    : of_messages_(of_messages) {
  for (const std::string& field : fields) fields_.emplace_back(field);
}

std::optional<LineProblem> PreferenceRecords::read(std::string_view line, PreferencePair& pair) {
  try {
    return parser_.visit(line, [&](const dom::element& record, bool numbers_are_kept) {
      const PairReader reader(record, fields_, numbers_are_kept);
      pair = of_messages_ ? reader.chats() : reader.texts();
    });
  } catch (const Error& error) {
    return problem_of(error);
  }
}

}  // namespace monomorph::data
