// In parallel blocks nobody reads what the last products give, and what LibTorch keeps of a block is not the plan's.
// expect-error: \[ACT-07\] what a checkpointing policy chooses to compute again, .* must be something that a block keeps
// expect-error: \[ACT-07\] what a checkpointing policy chooses to compute again, .* must be something that a block keeps
// expect-text: ChoiceSavesSomething<Parallel, &(monomorph::)?Recompute::projection, false>
// expect-text: ChoiceSavesSomething<Autograd, &(monomorph::)?Recompute::mlp, false>
#include <monomorph/block/autograd_block.hpp>

#include "support/control.hpp"
using monomorph::Recompute;
template <class R>
using Order =
    monomorph::Composed<NEGATIVE ? monomorph::BlockOrder::parallel : monomorph::BlockOrder::sandwich_norm>::Block<R>;
struct Parallel : Control {
  using layers = monomorph::Stack<monomorph::Run<Order, 6>>;
  using checkpointing = monomorph::checkpointing::Selective<Recompute{.attention = true, .projection = true}>;
};
static_assert(monomorph::admit<Parallel>());

template <class R> struct Linear : monomorph::AutogradBlock<Linear<R>> {
  struct Params : monomorph::ParameterLayout {
    constexpr explicit Params(int /*block*/ = 0) {
      take_tensor("weight", {64, 64}, monomorph::ParameterClass::linear, {});
    }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 2 * 64 * 64; }
  static at::Tensor compute(const monomorph::AutogradInput& in);
};
/// A policy of one's own, which chooses for the blocks that keep nothing by choice.
struct Own {
  static constexpr Recompute recompute(int block) {
    return (block < 2) == NEGATIVE ? Recompute{.mlp = true} : Recompute::nothing;
  }
};
struct Autograd : Control {
  using layers = monomorph::Stack<monomorph::Run<Linear, 2>, monomorph::Run<monomorph::DecoderBlock, 4>>;
  using checkpointing = Own;
};
static_assert(monomorph::admit<Autograd>());
