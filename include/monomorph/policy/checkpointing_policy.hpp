#pragma once
#include <concepts>
#include <monomorph/policy/axis.hpp>
#include <monomorph/policy/recompute.hpp>

namespace monomorph {

/// Activation checkpointing. A policy may export `template <class R> using rules = RuleList<…>`.
struct CheckpointingAxis {
  MONOMORPH_REQUIRED_AXIS(checkpointing, "monomorph::checkpointing::KeepAll")
  MONOMORPH_LOOK_UPS(Look, offloads);
  template <class P> struct Parts {
    static constexpr bool recompute = requires(int block) {
      { P::recompute(block) } -> std::same_as<Recompute>;
      typename Constant<P::recompute(0)>;
    };
    static constexpr bool offloads = !Look::has_offloads<P> || requires(int block) {
      { P::offloads(block) } -> std::same_as<bool>;
      typename Constant<P::offloads(0)>;
    };
    static constexpr bool all_hold = recompute && offloads;
    static consteval void explain() {
      static_assert(recompute,
                    "[ACT-04] a checkpointing policy must have `static constexpr Recompute recompute(int block)`: what "
                    "backward computes again of a block (docs/rules.md#act-04)");
      static_assert(offloads,
                    "[ACT-04] a checkpointing policy's offloads, if it has one, must be `static constexpr bool "
                    "offloads(int block)`: whether what is kept of a block waits in the host's memory for backward "
                    "(docs/rules.md#act-04)");
    }
  };
};
template <class P> concept CheckpointingPolicy = Fits<CheckpointingAxis, P>;

/// Whether what the policy keeps of a block waits in the host's memory for backward.
template <class P> constexpr bool offloads(int block) {
  if constexpr (CheckpointingAxis::Look::has_offloads<P>)
    return P::offloads(block);
  else
    return false;
}

}  // namespace monomorph
