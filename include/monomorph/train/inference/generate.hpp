#pragma once
#include <functional>
#include <memory>
#include <monomorph/data/tokenizer/tokenizer.hpp>
#include <monomorph/train/inference/sampling.hpp>
#include <monomorph/train/step/session.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::train {

struct Constraint;

/// How texts are made and when they end.
struct GenerationSettings {
  std::int64_t max_tokens = 200;
  SamplingSettings sampling{};
  std::vector<std::string> stop_texts{};            ///< a text ends before the first of these that is complete in it
  std::vector<std::int32_t> stop_ids{};             ///< and before a token of these
  std::vector<std::int32_t> text_ends{};            ///< what ends texts of the model, whatever ends these
  std::optional<std::int64_t> log_probabilities{};  ///< of each token, and so many of the most probable in its place
  std::shared_ptr<const Constraint> constraint{};   ///< what a text must be, if it must be something; then it ends
                                                    ///< where it is complete and nothing can follow, too
  bool is_turn = false;  ///< of a chat: it begins as a text of its own, and not as what goes on behind the prompt
};

/// A prompt, by its tokens, and which text is to continue it.
struct TextRequest {
  std::vector<std::int32_t> prompt;
  TextNumber number{};
};

enum class FinishReason { stop, length };
std::string_view name_of(FinishReason reason);

struct GeneratedText {
  std::string text;               ///< valid UTF-8, but for what a prompt's broken bytes may make of its first character
  std::vector<std::int32_t> ids;  ///< without a stop id
  std::vector<std::vector<Candidate>> log_probabilities;  ///< by id, what log_probabilities() says, if asked for
  FinishReason finish_reason = FinishReason::length;
};

/// The tokens of a prompt, with those that the tokeniser puts before every text; of an empty prompt the first of
/// `text_ends`, which ends the text before, if there is one.
/// @throws UsageError [RUN-09] nothing to begin with
std::vector<std::int32_t> prompt_ids(const data::Tokenizer& tokenizer, std::string_view prompt,
                                     std::span<const std::int32_t> text_ends);

/// What becomes of the texts.
struct TextSink {
  /// The next one to begin; nothing when there are no more.
  std::function<std::optional<TextRequest>()> next;
  /// More of a text, as soon as its characters are complete and no part of a stop text.
  std::function<void(TextNumber, std::string_view)> show = [](TextNumber, std::string_view) {};
  std::function<void(TextNumber, GeneratedText)> done = [](TextNumber, GeneratedText) {};
};

/// Continues prompts, as many at a time as the session has sequences and pages: a text begins when another one has
/// ended. When its context is full, a text goes on from the second half of its tokens.
/// @throws UsageError [RUN-28] the session's pages are too few for a text by itself; Error [RUN-14]
void generate(Session& session, const data::Tokenizer& tokenizer, const GenerationSettings& settings,
              const TextSink& sink);

}  // namespace monomorph::train
