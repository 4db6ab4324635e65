#pragma once
#include <cstdint>
#include <monomorph/train/step/session.hpp>
#include <optional>
#include <span>
#include <vector>

namespace monomorph::train {

/// A text by its tokens, of which those from `first` on are scored.
struct ScoredText {
  std::vector<std::int32_t> ids;  ///< at most one more than the context has
  std::int64_t first = 1;         ///< at least 1, as nothing comes before the token 0
};

/// Texts that may begin alike, such as a question with each of its answers: what they have in common goes through the
/// model once.
using TextGroup = std::vector<ScoredText>;

/// By text, the natural logarithms of the probabilities of its tokens from `first` on, each given all before it.
using GroupScores = std::vector<std::vector<double>>;

/// A text of any length, behind a token that begins it, as windows that fit the context, between which all its tokens
/// but the first are scored once: the first window scores as many as it has, and each further one the next `stride`,
/// behind as many before them as the context has.
class TextWindows {
 public:
  /// @param ids must outlive this   @param stride from 1 to the context
  TextWindows(std::span<const std::int32_t> ids, std::int64_t context_length, std::int64_t stride);
  std::optional<ScoredText> next();  ///< absent behind the last

 private:
  std::span<const std::int32_t> ids_;
  std::int64_t context_length_, stride_;
  std::int64_t scored_ = 1;  ///< tokens before the next window's first scored one
};

/// What a session is planned for that scores texts: whole prompts in a pass, and logits of as many tokens as a bounded
/// buffer holds.
PassSizes scoring_sizes(const PassLimits& limits);

/// Scores texts in as few passes as the session is planned for, and leaves it without sequences. The last bits of a
/// score depend on which texts are given together.
/// @return by group   @throws Error [KERNEL-01], [RUN-14]; std::logic_error a text is longer than the context
std::vector<GroupScores> score(Session& session, std::span<const TextGroup> groups);

}  // namespace monomorph::train
