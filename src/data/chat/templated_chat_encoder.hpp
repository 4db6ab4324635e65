#pragma once
#include "data/chat/templated_chat.hpp"
#include "data/chat/token_marks.hpp"

#include <monomorph/data/chat/chat_encoder.hpp>
#include <monomorph/data/chat/model_template.hpp>

#include <cstdint>
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
  /// Steps that all renderings of a chat's beginnings may take together.
  static constexpr std::int64_t usual_steps = 5 * jinja::RenderLimits{}.steps;

  /// Both must outlive it.   @param now for templates that write the date
  /// @param most_steps there are two beginnings for each of the assistant's turns, so that a chat with many takes the
  /// square of their number, which the limits of one rendering do not bound
  /// @throws UsageError [CHAT-02] the tokenizer does not take the tokens that the model's files name for tokens
  TemplatedChatEncoder(const Tokenizer& tokenizer, const ModelTemplate& model_template, std::time_t now,
                       std::int64_t most_steps = usual_steps);

  /// @throws [JINJA-02] and on, as the template; [CHAT-13] if the tokenizer does not keep the text; [CHAT-18] there is
  /// no telling what the assistant says
  EncodedChat encode(const TemplatedChat& chat);

 private:
  using Ranges = std::vector<std::pair<std::size_t, std::size_t>>;  ///< begins and ends in a text

  /// The ranges that count, as the template marks them.
  Ranges marked(const TemplatedChat& chat, const jinja::Rendered& rendered) const;
  /// The same by renderings of the chat's beginnings.
  Ranges compared(const TemplatedChat& chat, const std::string& text) const;
  /// @param steps_left what this rendering takes is taken away
  std::string beginning(const TemplatedChat& chat, std::size_t n_messages, bool with_answer_begun,
                        std::int64_t& steps_left) const;
  /// Without the white space behind a special token that ends the range.
  std::size_t end_of_turn(std::string_view text, std::size_t begin, std::size_t end) const;

  const Tokenizer& tokenizer_;
  const ModelTemplate& template_;
  std::time_t now_;
  std::int64_t most_steps_;
  Encoder encoder_;
  TokenMarks marks_;
};

}  // namespace monomorph::data
