#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace monomorph::train {

/// How the next token is chosen. Temperature 0 is greedy.
struct SamplingSettings {
  double temperature = 1;
  std::optional<std::int64_t> top_k{};  ///< the most probable tokens that are considered; absent: all
  double top_p = 1;                     ///< of the probability (nucleus sampling, Holtzman et al. 2020)
  std::uint64_t seed = 0;
};

/// Draws token number `index` of a text. The draw depends on the logits, the settings and that index alone, and on no
/// earlier draw. Ties go to the lower id.
class Sampler {
 public:
  explicit Sampler(const SamplingSettings& settings) : settings_(settings) {}
  /// @throws [RUN-14] the logits contain NaN or have no finite maximum
  std::int32_t draw(std::span<const float> logits, std::int64_t index);

 private:
  SamplingSettings settings_;
  std::vector<std::pair<double, std::int32_t>> candidates_;  ///< probability and id
};

}  // namespace monomorph::train
