#include "data/chat/preference_record.hpp"

#include "data/chat/chat_record.hpp"
#include "data/jinja/operators.hpp"
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

/// What is done with messages of both kinds.
bool equal(const ChatMessage& a, const ChatMessage& b) { return a.role == b.role && a.content == b.content; }
bool equal(const TemplatedMessage& a, const TemplatedMessage& b) { return jinja::equal(a.said, b.said); }
bool is_answer(const ChatMessage& message) { return message.role == ChatRole::assistant && message.counted; }
bool is_answer(const TemplatedMessage& message) { return message.counted; }

template <class Message> using Messages = std::vector<Message>;

/// Takes from both what they begin with alike, and gives it.
template <class Message> Messages<Message> take_common(Messages<Message>& a, Messages<Message>& b) {
  const auto end =
      std::ranges::mismatch(a, b, [](const Message& one, const Message& other) { return equal(one, other); }).in1;
  Messages<Message> common(a.begin(), end);
  if (common.size() == a.size() && common.size() == b.size()) return {};  // which is reported as it stands
  a.erase(a.begin(), a.begin() + std::ssize(common));
  b.erase(b.begin(), b.begin() + std::ssize(common));
  return common;
}

template <class Message> Messages<Message> joined(Messages<Message> first, const Messages<Message>& then) {
  first.insert(first.end(), then.begin(), then.end());
  return first;
}

/// One record.
class PairReader {
 public:
  PairReader(const dom::element& record, const std::vector<FieldPointer>& fields, bool numbers_are_kept)
      : record_(record), fields_(fields), numbers_are_kept_(numbers_are_kept) {}

  PreferencePair texts() const {
    AnsweredText chosen{.prompt = {}, .answer = std::string(text(1))},
        rejected{.prompt = {}, .answer = std::string(text(2))};
    if (value_at(record_, fields_[0]))
      chosen.prompt = rejected.prompt = text(0);
    else
      part_common_text(chosen, rejected);
    const auto is_blank = [](const std::string& answer) {
      return answer.find_first_not_of(" \t\r\n") == std::string::npos;
    };
    check(chosen.answer == rejected.answer, is_blank(chosen.answer) || is_blank(rejected.answer));
    return {std::move(chosen), std::move(rejected)};
  }

  PreferencePair chats() const {
    auto [chosen, rejected] = answers<ChatMessage>(read_chat_messages);
    return {std::move(chosen), std::move(rejected)};
  }

  PreferencePair templated_chats() const {
    auto [chosen, rejected] = answers<TemplatedMessage>(read_templated_messages);
    const jinja::Value tools = read_tools(record_);
    return {TemplatedChat{std::move(chosen), tools}, TemplatedChat{std::move(rejected), tools}};
  }

 private:
  /// Both answers behind what was asked.   @param read the messages of a list
  template <class Message> std::array<Messages<Message>, 2> answers(auto read) const {
    Messages<Message> chosen = read(list_at(1), numbers_are_kept_), rejected = read(list_at(2), numbers_are_kept_);
    const auto asked = value_at(record_, fields_[0]);
    // A text beside lists of messages is the first of these once more.
    Messages<Message> prompt =
        asked && asked->is_array() ? read(*asked, numbers_are_kept_) : take_common(chosen, rejected);
    const auto says_nothing = [](const Messages<Message>& messages) {
      return std::ranges::none_of(messages, [](const Message& message) { return is_answer(message); });
    };
    check(std::ranges::equal(chosen, rejected, [](const Message& a, const Message& b) { return equal(a, b); }),
          says_nothing(chosen) || says_nothing(rejected));
    for (Message& message : prompt) message.counted = false;
    return {joined(prompt, chosen), joined(prompt, rejected)};
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

  dom::element list_at(std::size_t i) const {
    const dom::element value = answer_at(i);
    if (!value.is_array())
      throw Error("PREF-01",
                  fmt::format("the field {} is {}, not a list of messages; plain texts are packed without --template",
                              in_quotes(fields_[i].text()), json_kind(value)));
    return value;
  }

  /// Makes what both texts begin with their prompt: up to a space before where they part, or to the beginning of a
  /// character.
  static void part_common_text(AnsweredText& chosen, AnsweredText& rejected) {
    std::string &a = chosen.answer, &b = rejected.answer;
    auto end = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
    if (end == a.size() && end == b.size()) return;
    const auto continues = [](const std::string& text, std::size_t at) {
      return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0u) == 0x80u;
    };
    while (end > 0 && (continues(a, end) || continues(b, end))) --end;
    if (end > 0 && a[end - 1] == ' ') --end;
    chosen.prompt = rejected.prompt = a.substr(0, end);
    a.erase(0, end);
    b.erase(0, end);
  }

  const dom::element& record_;
  const std::vector<FieldPointer>& fields_;
  bool numbers_are_kept_;
};

}  // namespace

PreferenceRecords::PreferenceRecords(const std::array<std::string, 3>& fields, AnswerForm form) : form_(form) {
  for (const std::string& field : fields) fields_.emplace_back(field);
}

std::optional<LineProblem> PreferenceRecords::read(std::string_view line, PreferencePair& pair) {
  try {
    return parser_.visit(line, [&](const dom::element& record, bool numbers_are_kept) {
      const PairReader reader(record, fields_, numbers_are_kept);
      switch (form_) {
        case AnswerForm::text:
          pair = reader.texts();
          break;
        case AnswerForm::messages:
          pair = reader.chats();
          break;
        case AnswerForm::templated:
          pair = reader.templated_chats();
          break;
      }
    });
  } catch (const Error& error) {
    return problem_of(error);
  }
}

}  // namespace monomorph::data
