#pragma once
#include <monomorph/policy/attention_policy.hpp>

namespace monomorph::attention {

/// The first P tokens attend to each other, before and behind; every later token to all up to itself (Raffel et al.
/// 2020, "prefix LM"). What attends to a token is not trained to predict it: none of the first P is a target.
template <int P> struct Prefix {
  static constexpr AttentionMask mask{.prefix = P};
  static constexpr bool within_documents = false;
};

}  // namespace monomorph::attention
