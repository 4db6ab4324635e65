#pragma once
#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::data {

/// Who says a message of a chat.
enum class ChatRole : std::uint8_t { system, user, assistant, tool };

inline constexpr std::array<std::string_view, 4> chat_role_names{"system", "user", "assistant", "tool"};

/// A set of roles, by their number.
using ChatRoles = std::bitset<chat_role_names.size()>;
inline constexpr ChatRoles assistant_alone = 1u << static_cast<unsigned>(ChatRole::assistant);

/// Also what data sets in the style of ShareGPT write: human, gpt, model.
std::optional<ChatRole> find_chat_role(std::string_view name);

struct ChatMessage {
  ChatRole role;
  std::string content;
  bool counted = true;  ///< false: left out of the loss although its role counts
};

/// How a model's chats are written. Constant texts only, so what is rendered equals the model's published template.
struct ChatTemplate {
  /// The turn of one role: `before`, the content, `end`, `after`. Content and `end` count in the loss.
  struct Turn {
    std::string_view before, end, after;
  };
  static constexpr std::size_t most_special_tokens = 4;

  std::string_view name;
  std::array<std::string_view, most_special_tokens> special_tokens;  ///< those it cannot do without; "" where fewer
  std::string_view end_token;                                        ///< one of them, which ends a reply
  std::string_view begin;                                            ///< of every chat
  std::array<Turn, chat_role_names.size()> turns;  ///< by role; one without any text is not known to the template
  bool trims_content = false;                      ///< white space at both ends of a content is dropped
  bool alternates = false;    ///< user and assistant in turn, after a system message that may come first
  bool folds_system = false;  ///< that system message stands before the first user's content, with a blank line between
  std::string_view jinja;     ///< a template that writes the same, for a model's folder

  bool knows(ChatRole role) const;
};

std::span<const ChatTemplate> chat_templates();

/// Null if there is none of this name.
const ChatTemplate* find_chat_template(std::string_view name);
/// The one that is written so in Jinja, in every byte; null if there is none.
const ChatTemplate* find_chat_template_in_jinja(std::string_view source);
/// The one with this fingerprint, as a loss mask keeps it; null if there is none.
const ChatTemplate* find_chat_template_of(std::uint64_t wanted);
/// Of all, for messages: "chatml, llama-3, …".
std::string chat_template_names();

/// Changes whenever what the template writes does. What is written of it in Jinja, which is to write the same, has no
/// part in it.
std::uint64_t fingerprint(const ChatTemplate& chat_template);

/// A stretch of a rendered chat.
struct ChatPiece {
  enum class Kind : std::uint8_t { header, content, end_of_turn };
  Kind kind;
  std::string_view text;  ///< of the template, or of the message if this is content
  std::size_t message;    ///< whose turn it is
};

/// What becomes of messages that say nothing but white space: in chats to learn from they are slips.
enum class BlankMessages : std::uint8_t { refused, written };

/// The pieces of a chat in order; together they are the text that the published template gives.
/// @throws [CHAT-04], [CHAT-05], [CHAT-06] if the template has no place for a message
std::vector<ChatPiece> render_chat(const ChatTemplate& chat_template, std::span<const ChatMessage> messages,
                                   BlankMessages blank = BlankMessages::refused);

}  // namespace monomorph::data
