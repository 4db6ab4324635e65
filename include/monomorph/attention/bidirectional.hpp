#pragma once
#include <monomorph/policy/attention_policy.hpp>

namespace monomorph::attention {

/// A token attends to all of its row, before and behind it: nothing is masked.
struct Bidirectional {
  static constexpr AttentionMask mask{.after = AttentionMask::unlimited};
  static constexpr bool within_documents = false;
};

}  // namespace monomorph::attention
