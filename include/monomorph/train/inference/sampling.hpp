#pragma once
#include <cstdint>
#include <monomorph/train/inference/sampling_settings.hpp>

#include <memory>
#include <span>
#include <vector>

namespace monomorph::train {

/// A token that may be drawn, and how probable it is.
struct Candidate {
  std::int32_t id;
  double probability;
};

/// Which of the texts that are made with the same seed: each has draws of its own.
struct TextNumber {
  std::uint32_t prompt = 0, sample = 0;
};

/// Draws the tokens of a text. The draw of token number `index` depends on the logits, the settings, the number of the
/// text and that index, and on earlier draws by the penalties alone. Ties go to the lower id.
class Sampler {
 public:
  explicit Sampler(const SamplingSettings& settings, TextNumber number = {});
  ~Sampler();
  Sampler(Sampler&&) noexcept;

  /// The tokens before the text, for the repetition penalty.
  void read_prompt(std::span<const std::int32_t> ids);
  /// Counts a token as one of the text's, as `draw` does of those that it draws.
  void count(std::int32_t id);
  /// @throws [RUN-14] the logits contain NaN or have no finite maximum
  std::int32_t draw(std::span<const float> logits, std::int64_t index);
  /// All that may be drawn, the most probable first, with probabilities that add up to 1. Not for temperature 0.
  std::vector<Candidate> candidates(std::span<const float> logits);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The most probable tokens and the token `id`, which may be among them, with the logarithms of the probabilities that
/// the logits give them: those of the model, whatever the settings make of them.
/// @param logits of all ids that the model has   @param n_named so many of them have tokens: those beyond have their
/// part in the sum of all probabilities, as in training, and are not among the most probable ones that are told
/// @return the token itself first, then the n most probable ones
std::vector<Candidate> log_probabilities(std::span<const float> logits, std::int64_t n_named, std::int32_t id,
                                         std::int64_t n);

}  // namespace monomorph::train
