#pragma once
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/rule/checkpointing_rules.hpp>

namespace monomorph::checkpointing {

/// num / den of the blocks, evenly spread, keep their input only: block i does where (i + 1) · num / den rounds (half
/// up) to more than i · num / den does, which is the selection of fms-fsdp.
template <int num, int den> struct Fraction {
  static constexpr Recompute recompute(int block) {
    return recomputed_before(block + 1) > recomputed_before(block) ? Recompute::block : Recompute::nothing;
  }
  template <class R>
  using rules =
      RuleList<rule::FractionWithinOne<num, den>, rule::FractionSelectsBlock<num, den, trunk_of<R>.n_layers.value>>;

 private:
  static constexpr long recomputed_before(long block) {
    if constexpr (den > 0) return (2 * block * num + den) / (2 * den);
    return 0;  // ACT-02 speaks
  }
};

}  // namespace monomorph::checkpointing
