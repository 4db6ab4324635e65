#pragma once
#include <cstdint>
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/spec_fields.hpp>

namespace monomorph {

/// Frequency scaling of Llama 3.1 and later (the published model code): wavelengths above original_context /
/// low_frequency_factor are stretched by `factor`, those below original_context / high_frequency_factor are kept, and
/// those between are interpolated. factor 1 is no scaling.
struct Llama3RotaryScaling {
  Defaulted<double> factor = 1;
  Defaulted<double> low_frequency_factor = 1;
  Defaulted<double> high_frequency_factor = 4;
  Defaulted<std::int64_t> original_context = 8192;
  friend constexpr bool operator==(const Llama3RotaryScaling&, const Llama3RotaryScaling&) = default;
};

/// Rotary position embedding (Su et al. 2021): frequency i of a head of H features is base^(-2i / H).
struct RotarySpec {
  Defaulted<double> base = 10'000;
  Llama3RotaryScaling scaling{};
  friend constexpr bool operator==(const RotarySpec&, const RotarySpec&) = default;
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::Llama3RotaryScaling, factor, low_frequency_factor, high_frequency_factor, original_context);
MONOMORPH_SPEC(monomorph::RotarySpec, base, scaling);
