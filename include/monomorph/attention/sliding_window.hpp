#pragma once
#include <monomorph/policy/attention_policy.hpp>

namespace monomorph::attention {

/// A token attends to W tokens: itself and the W - 1 before it.
template <int W> struct SlidingWindow {
  static constexpr AttentionMask mask{.before = W - std::int64_t{1}};
  static constexpr bool within_documents = false;
};

}  // namespace monomorph::attention
