#pragma once
#include <monomorph/train/inference/sampling_settings.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace monomorph::train {

/// What is less is taken for this, by which the most probable token is left.
inline constexpr double least_top_p = 1e-9;

/// What is said of top-k, of which 0 is transformers' word for all tokens, and -1 that of others.
inline std::optional<std::int64_t> top_k_of(std::int64_t said) { return said < 1 ? std::nullopt : std::optional(said); }

/// What somebody says of how texts are drawn: whoever starts a command, or a model's makers. Absent: nothing.
struct SamplingChoices {
  std::optional<double> temperature{}, top_p{}, min_p{}, repetition_penalty{};
  std::optional<std::int64_t> top_k{};  ///< less than 1: all tokens

  /// These, and where they say nothing, the others.
  SamplingChoices or_else(const SamplingChoices& others) const;
  /// What others say of that of which these say nothing.
  SamplingChoices unsaid_of(const SamplingChoices& others) const;
  void apply_to(SamplingSettings& settings) const;
};

/// "temperature 0.6, top_p 0.95"; empty if nothing is said.
std::string text_of(const SamplingChoices& choices);

/// What generation_config.json in a folder says, which transformers takes where it is told nothing else. Nothing if
/// there is no such file.   @throws UsageError [RUN-29] it is broken, or says what cannot be; [FILE-NN]
SamplingChoices sampling_of_model(const std::string& folder);

}  // namespace monomorph::train
