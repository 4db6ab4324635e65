#pragma once
#include <cstdint>
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/derived.hpp>
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

/// Position interpolation (Chen et al. 2023): every wavelength is stretched by `factor`. 1 is no scaling.
struct LinearRotaryScaling {
  Defaulted<double> factor = 1;
  static constexpr bool came_later = true;  ///< plan/fingerprint.hpp
  friend constexpr bool operator==(const LinearRotaryScaling&, const LinearRotaryScaling&) = default;
};

/// "Dynamic NTK" scaling of transformers: for a row of T tokens, more than original_context, the base is multiplied by
/// (factor T / original_context - (factor - 1))^(H / (H - 2)), so that the longest wavelength is stretched and the
/// shortest kept. T is the recipe's context_length. Without original_context there is no scaling.
struct DynamicRotaryScaling {
  Derived<std::int64_t> original_context{};
  Defaulted<double> factor = 1;
  static constexpr bool came_later = true;
  friend constexpr bool operator==(const DynamicRotaryScaling&, const DynamicRotaryScaling&) = default;
};

/// YaRN (Peng et al. 2023): frequencies that turn more than beta_fast times within original_context are kept, those
/// that turn less than beta_slow times are divided by `factor`, and between them is a linear ramp over the numbers of
/// the frequencies. factor 1 is no scaling.
struct YarnRotaryScaling {
  Defaulted<double> factor = 1;
  Defaulted<std::int64_t> original_context = 8192;
  Defaulted<double> beta_fast = 32, beta_slow = 1;
  Derived<double> attention_factor{};  ///< by which queries and keys are multiplied: 0.1 ln(factor) + 1 unless given
  Defaulted<bool> truncate = true;     ///< the ramp begins and ends at whole numbers
  static constexpr bool came_later = true;
  friend constexpr bool operator==(const YarnRotaryScaling&, const YarnRotaryScaling&) = default;
};

/// Rotary position embedding (Su et al. 2021): frequency i of a head of H features is base^(-2i / H). At most one
/// scaling.
struct RotarySpec {
  Defaulted<double> base = 10'000;
  Llama3RotaryScaling scaling{};
  LinearRotaryScaling linear{};
  DynamicRotaryScaling dynamic{};
  YarnRotaryScaling yarn{};
  friend constexpr bool operator==(const RotarySpec&, const RotarySpec&) = default;
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::Llama3RotaryScaling, factor, low_frequency_factor, high_frequency_factor, original_context);
MONOMORPH_SPEC(monomorph::LinearRotaryScaling, factor);
MONOMORPH_SPEC(monomorph::DynamicRotaryScaling, original_context, factor);
MONOMORPH_SPEC(monomorph::YarnRotaryScaling, factor, original_context, beta_fast, beta_slow, attention_factor,
               truncate);
MONOMORPH_SPEC(monomorph::RotarySpec, base, scaling, linear, dynamic, yarn);
