#include "data/chat/templated_chat_encoder.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <span>

namespace monomorph::data {
namespace {

using jinja::Value;

void check_tokens(const Tokenizer& tokenizer, const ModelTemplate& model_template) {
  for (const char* const name : {"bos_token", "eos_token"}) {
    const std::string* const token = model_template.token(name);
    if (token == nullptr || token->empty() || tokenizer.encode(*token).size() == 1) continue;
    throw UsageError("CHAT-02",
                     fmt::format("the model's files have {} as {}, which the tokenizer does not take for one "
                                 "token; use the model's own tokenizer.json",
                                 in_quotes(*token), name));
  }
}

bool is_assistant(const TemplatedMessage& message) {
  const Value* const role = message.said.dict()->find(std::string_view("role"));
  return *role->text() == "assistant";
}

/// What a template is given of the first messages of a chat.
Value said_in(const TemplatedChat& chat, std::size_t n_messages) {
  std::vector<Value> said;
  for (const TemplatedMessage& message : std::span(chat.messages).first(n_messages)) said.push_back(message.said);
  return Value::list(std::move(said));
}

[[noreturn]] void throw_cannot_tell(std::string_view why) {
  throw Error("CHAT-18", fmt::format("there is no telling what the assistant says: {}; put {{% generation %}} and {{% "
                                     "endgeneration %}} around it in the template",
                                     why));
}

}  // namespace

TemplatedChatEncoder::TemplatedChatEncoder(const Tokenizer& tokenizer, const ModelTemplate& model_template,
                                           std::time_t now, std::int64_t most_steps)
    : tokenizer_(tokenizer),
      template_(model_template),
      now_(now),
      most_steps_(most_steps),
      encoder_(tokenizer),
      marks_(tokenizer) {
  check_tokens(tokenizer, model_template);
}

EncodedChat TemplatedChatEncoder::encode(const TemplatedChat& chat) {
  const jinja::Rendered rendered = template_.render(said_in(chat, chat.messages.size()), chat.tools, false, now_);
  const bool has_marks = template_.chosen(!chat.tools.is_none()).marks_generation();
  std::vector<CountedStretch> stretches;
  for (const auto& [begin, end] : has_marks ? marked(chat, rendered) : compared(chat, rendered.text)) {
    if (begin == end) continue;
    stretches.push_back({begin, false});
    stretches.push_back({end, true});
  }
  stretches.push_back({rendered.text.size(), false});
  EncodedChat encoded;
  encoder_.encode(rendered.text, encoded.ids);
  marks_.append(rendered.text, encoded.ids, stretches, encoded.counted);
  return encoded;
}

TemplatedChatEncoder::Ranges TemplatedChatEncoder::marked(const TemplatedChat& chat,
                                                          const jinja::Rendered& rendered) const {
  if (!rendered.generated_in_place)
    throw_cannot_tell("what the template marks stands in a macro or a block, so that its place is not known");
  const Ranges& ranges = rendered.generated;
  std::vector<bool> counted;  // of the assistant's
  for (const TemplatedMessage& message : chat.messages)
    if (is_assistant(message)) counted.push_back(message.counted);
  if (std::ranges::find(counted, false) == counted.end()) return ranges;
  if (counted.size() != ranges.size())
    throw_cannot_tell("a message has a weight of 0, and the template does not mark each of the assistant's once");
  Ranges kept;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (counted[i]) kept.push_back(ranges[i]);
  return kept;
}

TemplatedChatEncoder::Ranges TemplatedChatEncoder::compared(const TemplatedChat& chat, const std::string& text) const {
  Ranges ranges;
  std::int64_t steps_left = most_steps_;
  for (std::size_t i = 0; i < chat.messages.size(); ++i) {
    if (!chat.messages[i].counted) continue;
    const std::string before = beginning(chat, i, true, steps_left),
                      with_turn = beginning(chat, i + 1, false, steps_left);
    if (!text.starts_with(with_turn))
      throw_cannot_tell(fmt::format("the template writes message {} in another way where more follows", i + 1));
    if (!with_turn.starts_with(before))
      throw_cannot_tell(
          fmt::format("the template writes what comes before message {} in another way without it", i + 1));
    ranges.emplace_back(before.size(), end_of_turn(text, before.size(), with_turn.size()));
  }
  return ranges;
}

std::string TemplatedChatEncoder::beginning(const TemplatedChat& chat, std::size_t n_messages, bool with_answer_begun,
                                            std::int64_t& steps_left) const {
  jinja::Rendered rendered = template_.render(said_in(chat, n_messages), chat.tools, with_answer_begun, now_);
  // The copies of messages count, too: a template need not look at them.
  if ((steps_left -= rendered.steps + static_cast<std::int64_t>(n_messages)) < 0)
    throw_cannot_tell(fmt::format("to render the chat up to each of its {} turns takes more than {} steps",
                                  std::ranges::count(chat.messages, true, &TemplatedMessage::counted), most_steps_));
  return std::move(rendered.text);
}

std::size_t TemplatedChatEncoder::end_of_turn(std::string_view text, std::size_t begin, std::size_t end) const {
  const std::string_view turn = text.substr(begin, end - begin);
  const std::size_t kept = turn.find_last_not_of(" \t\r\n") + 1;
  const auto ends_with = [&](const AddedToken& token) {
    return token.special && turn.substr(0, kept).ends_with(token.content);
  };
  return std::ranges::any_of(tokenizer_.definition().added_tokens, ends_with) ? begin + kept : end;
}

}  // namespace monomorph::data
