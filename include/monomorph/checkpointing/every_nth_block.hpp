#pragma once
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/rule/checkpointing_rules.hpp>

namespace monomorph::checkpointing {

/// Blocks 0, n, 2n, … keep their input only.
template <int n> struct EveryNthBlock {
  static constexpr Recompute recompute(int block) {
    return n > 0 && block % n == 0 ? Recompute::block : Recompute::nothing;
  }
  template <class R> using rules = RuleList<rule::EveryNthWithinLayers<n, trunk_of<R>.n_layers.value>>;
};

}  // namespace monomorph::checkpointing
