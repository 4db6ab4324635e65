#pragma once
#include <concepts>
#include <monomorph/checkpointing/every_block.hpp>
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/rule/checkpointing_rules.hpp>

namespace monomorph::checkpointing {

/// What `what` names is computed again and all else is kept:
/// `Selective<Recompute{.norm = true, .activation = true, .attention = true}>`. It is so in all blocks, or in those of
/// which another policy recomputes anything: `Selective<what, EveryNthBlock<2>>`. Something must be chosen [ACT-06],
/// and each choice must save something of some block [ACT-07].
template <Recompute what, class Where = EveryBlock> struct Selective : Where {
  static constexpr Recompute recompute(int block) requires requires {
    { Where::recompute(block) } -> std::same_as<Recompute>;
  }
  { return Where::recompute(block) == Recompute::nothing ? Recompute::nothing : what; }
  template <class R>
  using rules = decltype(RuleList<rule::SomethingIsChosen<what != Recompute::nothing>>{} + exported_rules<Where, R>());
};

}  // namespace monomorph::checkpointing
