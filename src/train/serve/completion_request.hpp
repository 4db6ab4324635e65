#pragma once
#include "train/inference/constraint.hpp"
#include "train/serve/chat_prompt.hpp"

#include <monomorph/train/inference/generate.hpp>

#include <cstddef>
#include <optional>
#include <set>

namespace monomorph::train {

/// What requests are read against: the one model that there is.
struct ServedModel {
  std::string name;
  const data::Tokenizer& tokenizer;
  GenerationSettings settings;  ///< what holds for every text: stop ids, ids without a token
  std::int64_t context_length;
  ChatPrompt chat_prompt;
  std::shared_ptr<VocabularyOnDemand> vocabulary = std::make_shared<VocabularyOnDemand>();
  std::optional<std::int64_t>
      cache_tokens{};  ///< that a text can have in the cache; the context's if they are not said
};

/// A prompt as tokens, and as the text that `echo` shows.
struct ServedPrompt {
  std::vector<std::int32_t> ids;
  std::string text;
  /// Of a prompt that was sent as text, which has the names of its special tokens: how many ids stand before those of
  /// the text. The text of one that was sent as ids has no names.
  std::optional<std::size_t> n_before_text{};
};

/// A request for completions or for chat completions, which differ in their prompts and in the form of the answer.
struct CompletionRequest {
  static constexpr std::int64_t most_texts = 128, most_alternatives = 20, most_tools = 128;
  /// Of an answer: one for each token that is told of, and those of its alternatives. Each takes a few hundred bytes
  /// while the answer is put together.
  static constexpr std::int64_t most_log_probabilities = 1 << 18;

  bool chat = false;
  std::vector<ServedPrompt> prompts;
  std::int64_t samples = 1;  ///< of each prompt
  GenerationSettings settings;
  std::optional<std::int64_t> log_probabilities;
  bool echo = false, stream = false, include_usage = false;
  std::set<std::string> tools{};  ///< by name, those that the model may call
  bool one_call = false;          ///< of an answer's calls, the first alone is told
  bool named_call = false;        ///< that of a tool that the client has named
};

/// @throws ApiError 400, 404: what is wrong, with the name of the field
CompletionRequest read_completion(const std::string& body, const ServedModel& model);
CompletionRequest read_chat_completion(const std::string& body, const ServedModel& model);

}  // namespace monomorph::train
