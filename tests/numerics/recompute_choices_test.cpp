// Each choice of what backward computes again, and all of them together: the bits of keeping everything. A model has
// one block of each kind for each of the 64 choices, so that every one also meets the scratch of others.
#include "distributed/encoder_like.hpp"
#include "numerics/low_rank_recipes.hpp"
#include "numerics/model_check.hpp"
#include "numerics/regions_check.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/tensors.hpp"

#include <monomorph/model/mixture_of_experts.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <cmath>

namespace monomorph::testing {
namespace {

using Timing = Transfers::Timing;

constexpr int n_choices = static_cast<int>(all_choices) + 1;
constexpr std::int64_t micro_batch = 2;

/// Block i of each 64 makes choice i.
struct EveryChoice {
  static constexpr Recompute recompute(int block) { return recompute_of(static_cast<unsigned>(block % n_choices)); }
};
static_assert(EveryChoice::recompute(0) == Recompute::nothing && EveryChoice::recompute(63) == Recompute::block);

/// Each choice by two blocks, of which the one goes to the one place that offloaded blocks take in turn, and the other
/// to the other.
struct OffloadingEveryChoice {
  static constexpr Recompute recompute(int block) { return EveryChoice::recompute(block / 2); }
  static constexpr bool offloads(int /*block*/) { return true; }
};

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

inline constexpr MixtureSpec every_option{
    .n_experts = 6, .top_k = 2, .d_expert = 24, .n_shared = 1, .balance_loss = 0.05, .z_loss = 0.01, .bias_rate = 0.02};
inline constexpr MixtureSpec losing_tokens{.n_experts = 4,
                                           .top_k = 2,
                                           .capacity_factor = 0.8,
                                           .scores = RouterScores::sigmoid,
                                           .balance_loss = 0.05,
                                           .bias_rate = 0.001};
template <class R>
using OfMixtures = Of<R, Mixture<every_option>::template Block,
                      Composed<BlockOrder::parallel, Mixture<losing_tokens>::template Mlp>::template Block,
                      Composed<BlockOrder::post_norm, Mixture<every_option>::template Mlp>::template Block>;
/// No dropout of attention, so that tiled attention can be computed; and masks of all kinds.
template <class R> struct Tiled : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec tiled = R::model;
    tiled.dropout.attention = 0;
    tiled.attention_kernel = AttentionKernel::tiled;
    return tiled;
  }();
  using attention = attention::WithinDocuments;
};
template <class R>
using WithMasks = Of<Tiled<R>, DecoderBlockWith<attention::PerDocument<attention::SlidingWindow<5>>>::template Block,
                     DecoderBlockWith<attention::PerDocument<attention::Prefix<4>>,
                                      Composed<BlockOrder::parallel>::template Block>::template Block>;

template <class R> struct TwiceAsDeep : R {
  static constexpr DecoderSpec model = with_layers(R::model, 2 * n_choices);
};

/// Rows as short as products in fp8 allow.
template <class R> struct InFp8 : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.context_length = 16;
    return model;
  }();
  using precision = precision::Fp8Mixed;
};

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

/// What two updates leave: the scales of the second one follow from what the first has recorded.
template <Recipe R> auto updated() {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 3);
  check_plan(step);
  std::vector<double> losses;
  for (const std::uint64_t number : {1, 2}) {
    losses.push_back(take_gradients(step, number));
    CHECK(step.read(step.decide({})).applied);
    step.update(adamw_hparams(), {});
  }
  return std::pair(losses, hash_of(step.parameters()));
}

}  // namespace

TEST_CASE("every choice of what is computed again gives the same bits: all orders, GPT-2-like in fp32") {
  check_choices<InAllOrders<gpt2_like>>();
}
TEST_CASE("every choice of what is computed again gives the same bits: all orders, Llama-like in bf16") {
  check_choices<InAllOrders<InBf16<llama_like>>>();
}
TEST_CASE("every choice of what is computed again gives the same bits, and autograd's: a normed residual stream") {
  check_choices<InNormedOrder<gpt2_like>>();
  check_choices<InNormedOrder<InBf16<llama_like>>>();
  check_model(model_case<With<In<InNormedOrder<llama_like>, precision::Fp64>, EveryChoice>>(0));
}
TEST_CASE("every choice of what is computed again gives the same bits: mixtures of experts, which count once") {
  check_choices<OfMixtures<llama_like>>();
  check_choices<OfMixtures<In<llama_like, precision::Fp16Mixed>>>();
}
TEST_CASE("every choice of what is computed again gives the same bits: masks and documents, tiled attention") {
  check_choices<WithMasks<In<gpt2_like, precision::Fp64>>>();
  check_choices<WithMasks<In<llama_like, precision::Bf16Pure>>>();
}
TEST_CASE("every choice of what is computed again gives the same bits: low-rank adapters with dropout") {
  check_choices<Of<Adapted<InBf16<llama_like>, dropped_everywhere>, DecoderBlock>>();
}

TEST_CASE("every choice of what is computed again gives the same bits and maxima: all orders, in fp8") {
  using R = InAllOrders<InFp8<llama_like>>;
  const auto kept = updated<R>();
  CHECK((updated<With<R, EveryChoice>>() == kept));
}

TEST_CASE("what is computed again by choice is not offloaded, and the rest waits on the host with the same bits") {
  using R = TwiceAsDeep<gpt2_like>;
  const auto kept = trained<R>();
  for (const Timing timing : {Timing::at_once, Timing::late})
    CHECK((trained<With<R, OffloadingEveryChoice>>(timing) == kept));
}

TEST_CASE("gradients with every choice of what is computed again are autograd's") {
  check_model(model_case<With<In<InAllOrders<llama_like>, precision::Fp64>, EveryChoice>>(0));
}

}  // namespace monomorph::testing
