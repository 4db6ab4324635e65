#include <monomorph/core/error.hpp>
#include <monomorph/core/hash.hpp>
#include <monomorph/data/chat/chat_template.hpp>
#include <monomorph/data/text/utf8.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace monomorph::data {
namespace {

constexpr std::string_view after_folded_system = "\n\n";

/// What Python's str.strip() takes away, and so the `trim` of templates.
bool is_python_space(char32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character first = first_character(text);
    if (!is_python_space(first.code_point)) break;
    text.remove_prefix(first.n_bytes);
  }
  while (!text.empty()) {
    std::size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xc0) == 0x80) --begin;
    if (!is_python_space(first_character(text.substr(begin)).code_point)) break;
    text.remove_suffix(text.size() - begin);
  }
  return text;
}

std::string_view name_of(ChatRole role) { return chat_role_names[static_cast<std::size_t>(role)]; }

/// Checks one chat against a template.
class ChatCheck {
 public:
  ChatCheck(const ChatTemplate& chat_template, std::span<const ChatMessage> messages, BlankMessages blank)
      : template_(chat_template), messages_(messages), blank_(blank) {}

  void run() const {
    const std::size_t n_folded = has_folded_system() ? 1 : 0;
    for (std::size_t i = 0; i < messages_.size(); ++i) check_message(i, i < n_folded);
    if (!template_.alternates) return;
    for (std::size_t i = n_folded; i < messages_.size(); ++i) {
      const ChatRole wanted = (i - n_folded) % 2 == 0 ? ChatRole::user : ChatRole::assistant;
      if (messages_[i].role != wanted) throw_wrong_order(i, wanted);
    }
    if (messages_.size() == n_folded) {
      throw Error("CHAT-05", fmt::format("a system message and nothing else; the template {} writes it into the "
                                         "user's, so add one",
                                         template_.name));
    }
  }

  bool has_folded_system() const {
    return template_.folds_system && !messages_.empty() && messages_[0].role == ChatRole::system;
  }

 private:
  void check_message(std::size_t index, bool folded) const {
    const ChatMessage& message = messages_[index];
    if (!folded && !template_.knows(message.role)) {
      if (message.role == ChatRole::system && template_.folds_system) {
        throw Error("CHAT-05", fmt::format("message {}: for the template {} a system message must be the first",
                                           index + 1, template_.name));
      }
      throw Error("CHAT-04", fmt::format("message {}: the template {} has no role \"{}\"; leave the message out, or "
                                         "use another --template",
                                         index + 1, template_.name, name_of(message.role)));
    }
    // Many sets give every chat a system message and leave it empty; an empty question or answer is a slip.
    if (blank_ == BlankMessages::refused && message.role != ChatRole::system && trimmed(message.content).empty()) {
      throw Error("CHAT-06", fmt::format("message {}: the {} says nothing but white space; leave the chat out, or "
                                         "mend it",
                                         index + 1, name_of(message.role)));
    }
  }

  [[noreturn]] void throw_wrong_order(std::size_t index, ChatRole wanted) const {
    throw Error("CHAT-05", fmt::format("message {}: it is the {}'s where the {}'s must be, as the template {} wants "
                                       "user and assistant in turn; mend the chat, or use another --template",
                                       index + 1, name_of(messages_[index].role), name_of(wanted), template_.name));
  }

  const ChatTemplate& template_;
  std::span<const ChatMessage> messages_;
  BlankMessages blank_;
};

}  // namespace

std::optional<ChatRole> find_chat_role(std::string_view name) {
  if (name == "human") return ChatRole::user;
  if (name == "gpt" || name == "model") return ChatRole::assistant;
  const auto found = std::find(chat_role_names.begin(), chat_role_names.end(), name);
  if (found == chat_role_names.end()) return std::nullopt;
  return static_cast<ChatRole>(found - chat_role_names.begin());
}

bool ChatTemplate::knows(ChatRole role) const { return !turns[static_cast<std::size_t>(role)].end.empty(); }

std::uint64_t fingerprint(const ChatTemplate& chat_template) {
  // A zero byte behind each text keeps neighbours apart.
  const auto add = [](std::uint64_t state, std::string_view text) {
    return fnv1a_64(std::string_view("\0", 1), fnv1a_64(text, state));
  };
  std::uint64_t state = add(fnv1a_64(""), chat_template.begin);
  for (const ChatTemplate::Turn& turn : chat_template.turns) {
    state = add(add(add(state, turn.before), turn.end), turn.after);
  }
  for (const bool flag : {chat_template.trims_content, chat_template.alternates, chat_template.folds_system}) {
    state = add(state, flag ? "1" : "0");
  }
  return state;
}

std::vector<ChatPiece> render_chat(const ChatTemplate& chat_template, std::span<const ChatMessage> messages,
                                   BlankMessages blank) {
  using Kind = ChatPiece::Kind;
  const ChatCheck check(chat_template, messages, blank);
  check.run();
  const std::size_t n_folded = check.has_folded_system() ? 1 : 0;
  std::vector<ChatPiece> pieces{{Kind::header, chat_template.begin, 0}};
  for (std::size_t i = n_folded; i < messages.size(); ++i) {
    const ChatTemplate::Turn& turn = chat_template.turns[static_cast<std::size_t>(messages[i].role)];
    const std::string_view content = messages[i].content;
    pieces.push_back({Kind::header, turn.before, i});
    if (n_folded == 1 && i == 1) {
      pieces.push_back({Kind::content, messages[0].content, 0});
      pieces.push_back({Kind::header, after_folded_system, i});
    }
    pieces.push_back({Kind::content, chat_template.trims_content ? trimmed(content) : content, i});
    pieces.push_back({Kind::end_of_turn, turn.end, i});
    pieces.push_back({Kind::header, turn.after, i});
  }
  std::erase_if(pieces, [](const ChatPiece& piece) { return piece.text.empty(); });
  return pieces;
}

}  // namespace monomorph::data
