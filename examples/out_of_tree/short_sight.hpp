#pragma once
#include <monomorph/policy/attention_policy.hpp>

namespace stranger {

/// A token sees itself and the n tokens before it.
template <int n> struct ShortSight {
  static constexpr monomorph::AttentionMask mask{.before = n};
  static constexpr bool within_documents = false;
};
static_assert(monomorph::AttentionPolicy<ShortSight<15>>);

}  // namespace stranger
