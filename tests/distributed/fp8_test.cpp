// Products in fp8 on several ranks: the greatest magnitudes are those of all ranks.
#include "distributed/ranked_training.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"

#include <monomorph/train/commands/run_recipe.hpp>

namespace monomorph::testing {
namespace {

template <class Strategy> struct InFp8 : Sharded<llama_like, Strategy> {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = llama_like::model;
    model.context_length = 32, model.n_layers = 2;
    return model;
  }();
  using precision = monomorph::precision::Fp8Mixed;
};

template <Recipe R> Outcome train_six_steps(int ranks) {
  auto program = detail::program_of<R>();
  return train(program, {ranks, 4 / ranks, true}, {.steps = 6});
}

}  // namespace

TEST_CASE("products in fp8 have the same bits on 1, 2 and 4 ranks, and so has the history of their maxima") {
  const Outcome one = train_six_steps<InFp8<sharding::Replicate>>(1);
  CHECK(one.parameters.at("layers.1.mlp.amax_history") != one.initial.at("layers.1.mlp.amax_history"));
  CHECK(same_bits(train_six_steps<InFp8<sharding::Replicate>>(2), one));
  CHECK(same_bits(train_six_steps<InFp8<sharding::ShardOptimizer>>(4), one));
  CHECK(same_bits(train_six_steps<InFp8<sharding::FullShard>>(2), one));
  CHECK(same_bits(train_six_steps<InFp8<sharding::HybridShard<2>>>(4), one));
}

}  // namespace monomorph::testing
