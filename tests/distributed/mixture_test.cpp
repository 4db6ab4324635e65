// Mixtures of experts on several ranks.
#include "distributed/ranked_training.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"
#include "support/training_program.hpp"

namespace monomorph::testing {
namespace {

inline constexpr MixtureSpec spec{
    .n_experts = 6, .top_k = 2, .d_expert = 24, .n_shared = 1, .balance_loss = 0.05, .bias_rate = 0.02};

template <class R, class Strategy> struct Mixed : Sharded<R, Strategy> {
  using layers = Stack<Run<Shaped<BlockShape{.d_ff = 40}>::Block, 1>, Run<Mixture<spec>::Block, 3>>;
};
template <class R> struct InBf16Pure : R { using precision = precision::Bf16Pure; };
template <class R> struct WithMuon : R { using optimizer = optim::ByClass<optim::Muon, optim::AdamW>; };
template <class Strategy> using OfLlama = Mixed<llama_like, Strategy>;

template <Recipe R> Outcome train_six_steps(int ranks) {
  auto program = training_program<R>();
  return train(program, {ranks, 8 / ranks, true}, {.steps = 6});
}

template <template <class Strategy> class Recipe> void check_bits() {
  const Outcome one = train_six_steps<Recipe<sharding::Replicate>>(1);
  CHECK(one.parameters.at("layers.1.mlp.router.bias") != one.initial.at("layers.1.mlp.router.bias"));
  each_strategy([&]<class Strategy>(int ranks) { CHECK(same_bits(train_six_steps<Recipe<Strategy>>(ranks), one)); });
}

template <class Strategy> using PureOfLlama = InBf16Pure<OfLlama<Strategy>>;
template <class Strategy> using MuonOfLlama = WithMuon<OfLlama<Strategy>>;

}  // namespace

TEST_CASE("a mixture of experts has the same bits on 1, 2 and 4 ranks under every strategy") { check_bits<OfLlama>(); }

TEST_CASE("so has one in bf16, whose loads are exact all the same") {
  const Outcome one = train_six_steps<PureOfLlama<sharding::Replicate>>(1);
  CHECK(same_bits(train_six_steps<PureOfLlama<sharding::FullShard>>(2), one));
}

TEST_CASE("so has one of which Muon transforms each expert's matrices") {
  const Outcome one = train_six_steps<MuonOfLlama<sharding::Replicate>>(1);
  CHECK(same_bits(train_six_steps<MuonOfLlama<sharding::FullShard>>(2), one));
}

}  // namespace monomorph::testing
