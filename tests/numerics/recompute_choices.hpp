#pragma once
#include "numerics/regions_check.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <cmath>

/// Models with one block of each kind for each of the 64 choices of what backward computes again, so that every one
/// also meets the scratch of others, and what a step of them leaves.
namespace monomorph::testing {

using Timing = Transfers::Timing;

constexpr int n_choices = static_cast<int>(all_choices) + 1;
constexpr std::int64_t micro_batch = 2;

/// Block i of each 64 makes choice i.
struct EveryChoice {
  static constexpr Recompute recompute(int block) { return recompute_of(static_cast<unsigned>(block % n_choices)); }
};
static_assert(EveryChoice::recompute(0) == Recompute::nothing && EveryChoice::recompute(63) == Recompute::block);

template <class R, class Policy> struct With : R { using checkpointing = Policy; };
template <class R, class Precision> struct In : R { using precision = Precision; };

template <template <class> class... Blocks> using EachOften = Stack<Run<Blocks, n_choices>...>;
constexpr DecoderSpec with_layers(DecoderSpec model, int n) {
  model.n_layers = n;
  return model;
}
template <class R, template <class> class... Blocks> struct Of : R {
  static constexpr DecoderSpec model = with_layers(R::model, n_choices* static_cast<int>(sizeof...(Blocks)));
  using layers = EachOften<Blocks...>;
};
template <class R>
using InAllOrders =
    Of<R, DecoderBlock, Composed<BlockOrder::post_norm>::template Block,
       Composed<BlockOrder::sandwich_norm>::template Block, Composed<BlockOrder::parallel>::template Block>;
/// A model of its own, as there are not as many layers in one as all orders would have.
template <class R> using InNormedOrder = Of<R, Composed<BlockOrder::normed_residual>::template Block>;

template <Recipe R> void check_plan(const train::Step<R>& step) {
  const plan::Memory plan = plan::memory<R>(1, micro_batch);
  CHECK(step.state().arena().bytes() == plan.arena());
  CHECK(step.state().arena().unused_bytes() == 0);
  CHECK(step.state().host_arena().bytes() == plan.host());
  CHECK(wrong_regions(step.state(), 1, micro_batch) == "");
}

/// Two micro-batches.   @return their loss
template <Recipe R> double take_gradients(train::Step<R>& step, std::uint64_t number) {
  constexpr std::int64_t T = trunk_of<R>.context_length;
  static const Sequences of_context(4, T, 50);
  double loss = 0;
  for (const std::int64_t i : {0, 1})
    loss += accumulate(step, of_context.from(2 * i, T), number, {.index = i, .count = 2}).loss;
  CHECK(std::isfinite(loss));
  return loss;
}

/// All that two micro-batches leave, and what was counted.
template <Recipe R> auto trained(Timing timing = Timing::at_once) {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3, 0, {}, timing);
  check_plan(step);
  const double loss = take_gradients(step, 1);
  return std::tuple(loss, hash_of(step.gradients()), step.scalars().auxiliary_loss.value(), step.counters());
}

template <class R> void check_choices() {
  const auto kept = trained<R>();
  CHECK((trained<With<R, EveryChoice>>() == kept));
}

}  // namespace monomorph::testing
