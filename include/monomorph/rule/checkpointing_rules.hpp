#pragma once
#include <cstdint>
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/recompute.hpp>

namespace monomorph::rule {

template <int n, std::int64_t n_layers> struct EveryNthWithinLayers {
  static constexpr bool holds = n > 0 && (n_layers < 1 || n <= n_layers);
  static consteval void explain() {
    static_assert(holds,
                  "[ACT-01] EveryNthBlock<n> must have 1 <= n <= n_layers; change n, or use KeepAll "
                  "(docs/rules.md#act-01)");
  }
};
template <int num, int den> struct FractionWithinOne {
  static constexpr bool holds = den > 0 && num > 0 && num <= den;
  static consteval void explain() {
    static_assert(holds,
                  "[ACT-02] Fraction<num, den> must lie in (0, 1]; change num or den, or use KeepAll "
                  "(docs/rules.md#act-02)");
  }
};
template <int num, int den, std::int64_t n_layers> struct FractionSelectsBlock {
  static constexpr bool holds = num < 1 || den < num || n_layers < 1 || 2.0 * n_layers * num >= den;
  static consteval void explain() {
    static_assert(holds,
                  "[ACT-03] Fraction<num, den> of n_layers must round to at least one block; change num or den, or "
                  "use KeepAll (docs/rules.md#act-03)");
  }
};

/// Of the blocks that keep activations, two stay on the device. Offload moves something only if there are more.
template <bool moves_some> struct OffloadMovesSomething {
  static constexpr bool holds = moves_some;
  static consteval void explain() {
    static_assert(
        holds,
        "[ACT-05] a checkpointing policy that offloads must move some block's activations: of those blocks that "
        "keep any for backward, all but two move; leave Offload out, or change the policy in it "
        "(docs/rules.md#act-05)");
  }
};

template <bool chooses> struct SomethingIsChosen {
  static constexpr bool holds = chooses;
  static consteval void explain() {
    static_assert(holds,
                  "[ACT-06] Selective<what> must choose something that is computed again; set norm, activation, qkv, "
                  "attention, projection or mlp of Recompute, or use KeepAll (docs/rules.md#act-06)");
  }
};
/// @param choice such as &Recompute::norm
template <class R, bool Recompute::*choice, bool saves> struct ChoiceSavesSomething {
  static constexpr bool holds = saves;
  static consteval void explain() {
    static_assert(holds,
                  "[ACT-07] what a checkpointing policy chooses to compute again, here the choice among the operands, "
                  "must be something that a block keeps otherwise; leave it out of Recompute (docs/rules.md#act-07)");
  }
};

}  // namespace monomorph::rule
