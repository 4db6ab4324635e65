#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/attention_policy.hpp>

namespace monomorph::attention {

/// Any mask, in each document by itself: a token attends to what Mask would have it attend to if its document had a row
/// of its own, and positions count from the document's begin.
template <class Mask> struct PerDocument : Mask {};  // of what is no policy, the gate says what it lacks
template <AttentionPolicy Mask> struct PerDocument<Mask> {
  template <class R> using rules = decltype(exported_rules<Mask, R>());
  static constexpr AttentionMask mask = Mask::mask;
  static constexpr bool within_documents = true;
};

}  // namespace monomorph::attention
