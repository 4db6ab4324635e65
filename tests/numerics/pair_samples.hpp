#pragma once
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/train/step/training_step.hpp>

#include <cstdint>
#include <iterator>
#include <vector>

/// Pairs of texts, as a loader gives them.
namespace monomorph::testing {

/// Tokens of a sample, and how many ids there are.
inline constexpr std::int64_t pair_tokens = 12, pair_ids = 50;

/// Samples of two texts and padding. Sample 2 of every 5 has no pair: its second text is missing.
struct Pairs {
  std::vector<std::int32_t> inputs, targets, starts;
  explicit Pairs(std::int64_t n, std::int64_t first = 0) {
    for (std::int64_t sample = first; sample < first + n; ++sample) {
      const std::int64_t query = 1 + sample % 5, end = query + 1 + (2 * sample) % 6;
      for (std::int64_t t = 0; t < pair_tokens; ++t) {
        inputs.push_back(static_cast<std::int32_t>((sample * sample + 7 * t + t * sample) % pair_ids));
        const std::int32_t text = t < query ? 0 : t < end ? 1 : ignored_target;
        targets.push_back(sample % 5 == 2 && text == 1 ? ignored_target : text);
        starts.push_back(static_cast<std::int32_t>(t < query ? 0 : t < end ? query : end));
      }
    }
  }
  std::int64_t count() const { return std::ssize(inputs) / pair_tokens; }
  train::MicroBatch from(std::int64_t sample) const {
    return {inputs.data() + sample * pair_tokens, targets.data() + sample * pair_tokens,
            static_cast<std::uint64_t>(sample), starts.data() + sample * pair_tokens};
  }
};

}  // namespace monomorph::testing
