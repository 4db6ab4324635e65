#pragma once
#include <cstdint>
#include <optional>
#include <vector>

namespace monomorph::train {

/// What is added to the logit of a token before anything else.
struct LogitBias {
  std::int32_t id;
  double bias;
};

/// How the next token is chosen. Temperature 0 is greedy: the most probable token after biases and penalties.
struct SamplingSettings {
  double temperature = 1;
  std::optional<std::int64_t> top_k{};  ///< the most probable tokens that are considered; absent: all
  double top_p = 1;                     ///< of the probability (nucleus sampling, Holtzman et al. 2020)
  double min_p = 0;  ///< of the probability of the most probable token, which a token must have (Nguyen et al. 2024)
  /// Divides the positive logits, and multiplies the negative ones, of tokens that prompt or text have (Keskar et al.
  /// 2019).
  double repetition_penalty = 1;
  double frequency_penalty = 0;  ///< taken from a token's logit as often as the text has it, without the prompt
  double presence_penalty = 0;   ///< taken once if the text has it at all
  std::vector<LogitBias> logit_bias{};
  std::uint64_t seed = 0;
};

}  // namespace monomorph::train
