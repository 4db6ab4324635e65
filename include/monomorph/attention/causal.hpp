#pragma once
#include <monomorph/policy/attention_policy.hpp>

namespace monomorph::attention {

/// A token attends to all of its row up to itself, whatever documents it is made of.
struct Causal {
  static constexpr AttentionMask mask{};
  static constexpr bool within_documents = false;
};

}  // namespace monomorph::attention
