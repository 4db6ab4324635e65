#pragma once
#include <monomorph/train/inference/generate.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace monomorph::train {

/// A token with the logarithms of probabilities in its place: its own first, then those of the most probable ones.
/// Nothing comes before the first token of a prompt, so it has none.
struct ScoredToken {
  std::int32_t id;
  std::vector<Candidate> candidates;
};

/// What became of a text since the event before.
struct TextEvent {
  std::size_t text = 0;  ///< which of its request's
  std::string more{};    ///< that can be shown
  std::vector<ScoredToken> scored{};
  std::int64_t drawn = 0;  ///< tokens, one that ended the text included
  std::optional<FinishReason> finish{};
  std::string failure{};  ///< why there will be no more, if the text did not finish
};

/// The way from the thread that has the model to that of a request's connection.
class TextEvents {
 public:
  void push(TextEvent event);
  /// The next one; nothing if none has come until then.
  std::optional<TextEvent> next(std::chrono::steady_clock::time_point until);
  /// Nobody waits for the request's texts any more.
  void abandon() { abandoned_ = true; }
  bool abandoned() const { return abandoned_; }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<TextEvent> events_;
  std::atomic<bool> abandoned_ = false;
};

/// A text that a request asks for.
struct ServedText {
  std::size_t index = 0;  ///< of it among those of its request
  TextRequest request;
  GenerationSettings settings;                    ///< max_tokens may be 0: the prompt alone is scored
  std::optional<std::int64_t> log_probabilities;  ///< of each token, and so many of the most probable in its place
  bool scores_prompt = false;                     ///< those of the prompt's tokens, too
  std::shared_ptr<TextEvents> events;
};

}  // namespace monomorph::train
