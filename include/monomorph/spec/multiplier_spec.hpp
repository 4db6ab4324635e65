#pragma once
#include <monomorph/core/defaulted.hpp>
#include <monomorph/core/derived.hpp>
#include <monomorph/core/spec_fields.hpp>

namespace monomorph {

/// Constants that a model multiplies by.
struct MultiplierSpec {
  /// Of the embedded tokens, before learned positions are added: sqrt(d_model) in Vaswani et al. 2017, section 3.4, and
  /// in Gemma. It is rounded to the compute dtype. A tied head multiplies by the table as it is.
  Defaulted<double> embedding = 1;
  Derived<double> attention{};              ///< of the products of queries and keys: 1 / sqrt(head_dim) unless given
  static constexpr bool came_later = true;  ///< plan/fingerprint.hpp
  friend constexpr bool operator==(const MultiplierSpec&, const MultiplierSpec&) = default;
};

}  // namespace monomorph

MONOMORPH_SPEC(monomorph::MultiplierSpec, embedding, attention);
