#pragma once
#include <monomorph/checkpointing/keep_all.hpp>
#include <monomorph/policy/checkpointing_policy.hpp>
#include <monomorph/rule/checkpointing_rules.hpp>

namespace monomorph::checkpointing {

/// Another policy, with what it keeps of the blocks moved to the host's memory after forward, and back before backward.
/// Two blocks' are on the device at a time: those that are used last in forward stay, as backward begins with them.
template <CheckpointingPolicy Policy = KeepAll> struct Offload : Policy {
  static constexpr std::string_view name = "Offload";
  /// Where no more than the input is kept, that stays.
  static constexpr bool offloads(int block) { return Policy::recompute(block) != Recompute::block; }
  /// As many as matter: up to three.
  static constexpr int blocks_offloaded(std::int64_t n_layers) {
    int n = 0;
    for (int block = 0; block < n_layers && n < 3; ++block) n += offloads(block) ? 1 : 0;
    return n;
  }
  template <class R>
  using rules = decltype(exported_rules<Policy, R>() +
                         RuleList<rule::OffloadMovesSomething<blocks_offloaded(R::model.n_layers.value)>>{});
};
static_assert(CheckpointingPolicy<Offload<>>);

}  // namespace monomorph::checkpointing
