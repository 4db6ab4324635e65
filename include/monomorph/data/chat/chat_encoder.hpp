#pragma once
#include <monomorph/data/chat/chat_template.hpp>
#include <monomorph/data/tokenizer/tokenizer.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

class TokenMarks;
struct CountedStretch;

/// The token ids of a chat and, for each, whether it counts in the loss when it is to be predicted.
struct EncodedChat {
  std::vector<std::int32_t> ids;
  std::vector<bool> counted;
  /// Whether a token counts besides the first, before which nothing stands that could predict it.
  bool has_target() const;
};

/// Encodes chats by a template. The ids are those of the rendered text as a whole, but a special token in the content
/// of a message stays ordinary text. A token that reaches from a header into content that counts does count.
class ChatEncoder {
 public:
  /// Both must outlive it.  @throws [CHAT-02] if the tokenizer lacks a special token of the template
  ChatEncoder(const Tokenizer& tokenizer, const ChatTemplate& chat_template, ChatRoles counted_roles);
  ChatEncoder(ChatEncoder&&) noexcept;
  ~ChatEncoder();

  /// @throws [CHAT-04], [CHAT-05], [CHAT-06] as render_chat; [CHAT-13] if the tokenizer does not keep the text
  EncodedChat encode(std::span<const ChatMessage> messages);
  /// The ids of a conversation up to where the assistant goes on; the assistant's turns must count. What was said in it
  /// may be nothing.   @throws as encode, but for [CHAT-06]
  std::vector<std::int32_t> prompt(std::vector<ChatMessage> messages);

 private:
  /// A stretch of the template's text: a special token, or ordinary text.
  struct Literal {
    std::string_view text;
    std::optional<std::int32_t> special;
  };
  EncodedChat encode(std::span<const ChatMessage> messages, const std::vector<ChatPiece>& pieces);
  const std::vector<Literal>& literals_of(std::string_view text);
  void append_text(std::string_view text, bool counted);
  void append_special(std::int32_t id, bool counted, EncodedChat& chat);
  /// Encodes the text gathered since the last special token.
  void finish_text(EncodedChat& chat);

  const Tokenizer& tokenizer_;
  const ChatTemplate& template_;
  ChatRoles counted_roles_;
  Encoder encoder_;
  std::map<std::string_view, std::vector<Literal>> literals_;
  std::unique_ptr<const TokenMarks> marks_;

  std::string text_;
  std::vector<CountedStretch> stretches_;
};

}  // namespace monomorph::data
