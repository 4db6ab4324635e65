#pragma once
#include "data/chat/templated_chat.hpp"
#include "data/chat/token_marks.hpp"

#include <monomorph/data/chat/chat_encoder.hpp>
#include <monomorph/data/chat/model_template.hpp>

#include <ctime>
#include <string>
#include <utility>
#include <vector>

namespace monomorph::data {

/// Encodes chats by a model's own template. Ids and, where the template marks with `{% generation %}` what the
/// assistant says, what counts are those of transformers' `apply_chat_template`. Where it does not, a turn is what a
/// rendering up to it adds to one that ends where the model would be asked for it.
class TemplatedChatEncoder {
 public:
  /// Both must outlive it.   @param now for templates that write the date
  /// @throws UsageError [CHAT-02] the tokenizer does not take the tokens that the model's files name for tokens
  TemplatedChatEncoder(const Tokenizer& tokenizer, const ModelTemplate& model_template, std::time_t now);

  /// @throws [JINJA-02] and on, as the template; [CHAT-13] if the tokenizer does not keep the text; [CHAT-18] there is
  /// no telling what the assistant says
  EncodedChat encode(const TemplatedChat& chat);

 private:
  using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;  ///< begins and ends in a text

  /// The ranges that count, as the template marks them.
  Ranges marked(const TemplatedChat& chat, const jinja::Rendered& rendered) const;
  /// The same by renderings of the chat's beginnings.
  Ranges compared(const TemplatedChat& chat, const std::string& text) const;
  std::string beginning(const TemplatedChat& chat, std::size_t n_messages, bool with_answer_begun) const;
  /// Without the white space behind a special token that ends the range.
  std::size_t end_of_turn(std::string_view text, std::size_t begin, std::size_t end) const;

  const Tokenizer& tokenizer_;
  const ModelTemplate& template_;
  std::time_t now_;
  Encoder encoder_;
  TokenMarks marks_;
};

}  // namespace monomorph::data
