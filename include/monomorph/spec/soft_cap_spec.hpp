#pragma once
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/spec_fields.hpp>

namespace monomorph {

/// Bounds that a model comes near and does not pass: y = cap · tanh(x / cap), which leaves small numbers as they are
/// (Gemma 2: Riviere et al. 2024, section 2). 0 is none.
struct SoftCapSpec {
  Defaulted<double> scores = 0;  ///< of attention's scores, once they are multiplied, before mask and softmax
  Defaulted<double> logits = 0;  ///< of the head's logits, with its bias, before any loss of them
  static constexpr bool came_later = true;  ///< plan/fingerprint.hpp
  friend constexpr bool operator==(const SoftCapSpec&, const SoftCapSpec&) = default;
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::SoftCapSpec, scores, logits);
