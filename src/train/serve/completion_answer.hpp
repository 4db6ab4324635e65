#pragma once
#include "train/inference/tool_calls.hpp"
#include "train/serve/completion_request.hpp"
#include "train/serve/served_text.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace monomorph::train {

/// What a client is told of its request's texts, in the forms of OpenAI's API: all at once, or piece by piece.
class CompletionAnswer {
 public:
  CompletionAnswer(const CompletionRequest& request, const ServedModel& model);

  /// Adds what has become of a text. Streams call it with what piece() has shown, too, for the counts.
  void add(const TextEvent& event);
  bool complete() const { return finished_ == texts_.size(); }
  std::int64_t prompt_tokens() const;
  std::int64_t drawn_tokens() const { return drawn_; }

  /// The answer with all texts, when they are complete.
  std::string whole();
  /// What a stream begins with for each text: its role in a chat, and the echo of a prompt; "" for nothing.
  std::string beginning(std::size_t text);
  /// A piece of a stream; "" for an event that shows nothing.
  std::string piece(const TextEvent& event);
  /// The piece that has the counts and no text.
  std::string usage_piece() const;

 private:
  /// Where a token with log-probabilities stands in a text, with the prompt if that is shown.
  struct Place {
    std::size_t token = 0;
    std::int64_t character = 0;
  };
  struct Text {
    std::string shown;
    std::vector<ScoredToken> scored;
    FinishReason finish = FinishReason::length;
    Place next{};  ///< of the tokens that a stream tells
    std::optional<ToolCallFinder> calls{};
    std::int64_t told_calls = 0;
  };

  nlohmann::ordered_json head(const char* object) const;
  nlohmann::ordered_json usage() const;
  nlohmann::ordered_json message_of(Text& text) const;
  nlohmann::ordered_json delta_of(Text& text, const TextEvent& event) const;
  /// Calls that were found, in the form of the API. Of these some may be the client's to hear, and others not.
  nlohmann::ordered_json told(Text& text, const std::vector<ToolCall>& calls) const;
  /// Why the text ended: for calls of tools, if it has some that the client has not asked for by name.
  std::string_view reason_of(const Text& text) const;
  /// @param next of the first of the tokens, then the one behind them
  nlohmann::ordered_json scores(std::size_t text, const std::vector<ScoredToken>& tokens, Place& next) const;
  nlohmann::ordered_json completion_scores(std::size_t text, const std::vector<ScoredToken>& tokens, Place& next) const;
  bool is_shown(std::size_t text, std::size_t token, std::int32_t id) const;
  nlohmann::ordered_json chat_scores(const std::vector<ScoredToken>& tokens) const;
  std::string streamed(nlohmann::ordered_json choice) const;
  const ServedPrompt& prompt_of(std::size_t text) const {
    return request_.prompts[text / static_cast<std::size_t>(request_.samples)];
  }

  const CompletionRequest& request_;
  const ServedModel& model_;
  std::string id_;
  std::int64_t created_;
  std::vector<Text> texts_;
  std::size_t finished_ = 0;
  std::int64_t drawn_ = 0;
};

}  // namespace monomorph::train
