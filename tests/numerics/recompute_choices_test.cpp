// Each choice of what backward computes again, and all of them together: the bits of keeping everything.
#include "numerics/recompute_choices.hpp"

#include "distributed/encoder_like.hpp"
#include "numerics/low_rank_recipes.hpp"
#include "numerics/model_check.hpp"

#include <monomorph/model/mixture_of_experts.hpp>

namespace monomorph::testing {
namespace {

/// Each choice by two blocks, of which the one goes to the one place that offloaded blocks take in turn, and the other
/// to the other.
struct OffloadingEveryChoice {
  static constexpr Recompute recompute(int block) { return EveryChoice::recompute(block / 2); }
  static constexpr bool offloads(int /*block*/) { return true; }
};

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
