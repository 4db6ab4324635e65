#pragma once
#include <cstdint>

namespace monomorph {

/// Frequency scaling of Llama 3.1 and later (the published model code): wavelengths above original_context /
/// low_frequency_factor are stretched by `factor`, those below original_context / high_frequency_factor are kept, and
/// those between are interpolated. factor 1 is no scaling.
struct Llama3RotaryScaling {
  double factor = 1;
  double low_frequency_factor = 1;
  double high_frequency_factor = 4;
  std::int64_t original_context = 8192;
  friend constexpr bool operator==(const Llama3RotaryScaling&, const Llama3RotaryScaling&) = default;
};

/// Rotary position embedding (Su et al. 2021): frequency i of a head of H features is base^(-2i / H).
struct RotarySpec {
  double base = 10'000;
  Llama3RotaryScaling scaling{};
  friend constexpr bool operator==(const RotarySpec&, const RotarySpec&) = default;
};

}  // namespace monomorph
