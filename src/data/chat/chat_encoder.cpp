#include "data/chat/special_token_at.hpp"
#include "data/chat/token_marks.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/data/chat/chat_encoder.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {
namespace {

void check_special_tokens(const Tokenizer& tokenizer, const ChatTemplate& chat_template) {
  std::string missing;
  for (const std::string_view wanted : chat_template.special_tokens) {
    if (wanted.empty()) continue;
    const AddedToken* token = special_token_at(wanted, tokenizer.definition().added_tokens);
    if (token == nullptr || token->content != wanted)
      missing.append(missing.empty() ? "" : ", ").append(in_quotes(wanted));
  }
  if (missing.empty()) return;
  throw UsageError("CHAT-02",
                   fmt::format("the tokenizer lacks what the template {} writes as special tokens: {}; add them to its "
                               "added_tokens with \"special\": true, or use another --template",
                               chat_template.name, missing));
}

}  // namespace

bool EncodedChat::has_target() const {
  return !counted.empty() && std::find(counted.begin() + 1, counted.end(), true) != counted.end();
}

ChatEncoder::ChatEncoder(const Tokenizer& tokenizer, const ChatTemplate& chat_template, ChatRoles counted_roles)
    : tokenizer_(tokenizer),
      template_(chat_template),
      counted_roles_(counted_roles),
      encoder_(tokenizer),
      marks_(std::make_unique<const TokenMarks>(tokenizer)) {
  check_special_tokens(tokenizer, chat_template);
}
ChatEncoder::ChatEncoder(ChatEncoder&&) noexcept = default;
ChatEncoder::~ChatEncoder() = default;

EncodedChat ChatEncoder::encode(std::span<const ChatMessage> messages) {
  return encode(messages, render_chat(template_, messages));
}

/// A turn of the assistant's with a letter is appended, and the prompt ends before the token that has the letter.
std::vector<std::int32_t> ChatEncoder::prompt(std::vector<ChatMessage> messages) {
  for (ChatMessage& message : messages) message.counted = false;
  messages.push_back({ChatRole::assistant, "x"});
  EncodedChat chat = encode(messages, render_chat(template_, messages, BlankMessages::written));
  const auto own = std::ranges::find(chat.counted, true);
  chat.ids.resize(static_cast<std::size_t>(own - chat.counted.begin()));
  return std::move(chat.ids);
}

EncodedChat ChatEncoder::encode(std::span<const ChatMessage> messages, const std::vector<ChatPiece>& pieces) {
  EncodedChat chat;
  text_.clear();  // a chat that was refused may have left some
  stretches_.clear();
  for (const ChatPiece& piece : pieces) {
    const ChatMessage& message = messages[piece.message];
    const bool counted = piece.kind != ChatPiece::Kind::header && message.counted &&
                         counted_roles_[static_cast<std::size_t>(message.role)];
    if (piece.kind == ChatPiece::Kind::content) {
      append_text(piece.text, counted);
      continue;
    }
    for (const Literal& literal : literals_of(piece.text)) {
      if (literal.special) {
        append_special(*literal.special, counted, chat);
      } else {
        append_text(literal.text, counted);
      }
    }
  }
  finish_text(chat);
  return chat;
}

const std::vector<ChatEncoder::Literal>& ChatEncoder::literals_of(std::string_view text) {
  const auto [known, is_new] = literals_.try_emplace(text);
  if (!is_new) return known->second;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const AddedToken* token = special_token_at(text.substr(at), tokenizer_.definition().added_tokens);
    if (token == nullptr) {
      ++at;
      continue;
    }
    if (at > begin) known->second.push_back({text.substr(begin, at - begin), std::nullopt});
    known->second.push_back({text.substr(at, token->content.size()), token->id});
    begin = at += token->content.size();
  }
  if (begin < text.size()) known->second.push_back({text.substr(begin), std::nullopt});
  return known->second;
}

void ChatEncoder::append_text(std::string_view text, bool counted) {
  text_ += text;
  if (!stretches_.empty() && stretches_.back().counted == counted) {
    stretches_.back().end = text_.size();
  } else {
    stretches_.push_back({text_.size(), counted});
  }
}

void ChatEncoder::append_special(std::int32_t id, bool counted, EncodedChat& chat) {
  finish_text(chat);
  chat.ids.push_back(id);
  chat.counted.push_back(counted);
}

void ChatEncoder::finish_text(EncodedChat& chat) {
  if (stretches_.empty()) return;
  const std::size_t first = chat.ids.size();
  encoder_.encode_plain(text_, chat.ids, /*from_start=*/first == 0);
  if (stretches_.size() == 1)  // whatever the tokenizer makes of the text
    chat.counted.resize(chat.ids.size(), stretches_.front().counted);
  else
    marks_->append(text_, std::span(chat.ids).subspan(first), stretches_, chat.counted);
  text_.clear();
  stretches_.clear();
}

}  // namespace monomorph::data
