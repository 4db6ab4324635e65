#pragma once
#include <monomorph/train/inference/sampling_settings.hpp>

#include <span>
#include <unordered_map>
#include <vector>

namespace monomorph::train {

/// What the settings and the tokens so far change of the logits, before they become probabilities: biases first, then
/// the repetition penalty, as transformers has them, then frequency and presence penalties, as OpenAI's API defines
/// them.
class LogitAdjustments {
 public:
  explicit LogitAdjustments(const SamplingSettings& settings) : settings_(settings) {}

  void add_prompt(std::span<const std::int32_t> ids) {
    for (const std::int32_t id : ids) counts_.try_emplace(id, 0);
  }
  void add(std::int32_t id) { ++counts_[id]; }
  void apply(std::vector<double>& logits) const;

 private:
  SamplingSettings settings_;
  std::unordered_map<std::int32_t, std::int64_t> counts_;  ///< by token of prompt or text, how often the text has it
};

}  // namespace monomorph::train
