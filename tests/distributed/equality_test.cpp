// Bits that do not depend on the number of ranks, and what is lost where gradients are rounded between them. That every
// division trains as one rank does is in ranked_covering_test.cpp.
#include "distributed/ranked_axes.hpp"
#include "distributed/ranked_training.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"
#include "support/training_program.hpp"

#include <monomorph/core/type_name.hpp>

namespace monomorph::testing {
namespace {

template <class R> struct InBf16Pure : R { using precision = precision::Bf16Pure; };
template <class R> struct ReducedInBf16 : R { using precision = precision::Bf16MixedReducingBf16; };

template <Recipe R> Outcome train_six_steps(int ranks, std::int64_t micro_batch) {
  constexpr std::int64_t samples_per_step = 8;
  return train(training_program<R>(), {ranks, samples_per_step / (ranks * micro_batch), true}, {.steps = 6});
}

}  // namespace

TEST_CASE("with the fixed tree, 1, 2 and 4 ranks give the same bits under every strategy") {
  const Outcome one = train_six_steps<Sharded<gpt2_like, sharding::Replicate>>(1, 1);
  CHECK(same_bits(train_six_steps<Sharded<gpt2_like, sharding::FullShard>>(1, 1), one));
  each_strategy([&]<class Strategy>(int ranks) {
    CHECK(same_bits(train_six_steps<Sharded<gpt2_like, Strategy>>(ranks, 1), one));
  });
  // The other micro-batch is another tree, and its sums have other bits: what is compared above can differ.
  CHECK_FALSE(same_bits(train_six_steps<Sharded<gpt2_like, sharding::Replicate>>(1, 2), one));
}

namespace {
template <class R, class Strategy> struct Tuned : Sharded<R, Strategy> {
  using finetuning = finetuning::FreezeFirst<2>;
};
}  // namespace

TEST_CASE("with frozen units, 1, 2 and 4 ranks give the same bits") {
  const Outcome one = train_six_steps<Tuned<llama_like, sharding::Replicate>>(1, 1);
  CHECK_FALSE(one.gradients.at(1).contains("layers.1.mlp.up.weight"));
  CHECK(same_bits(train_six_steps<Tuned<llama_like, sharding::Replicate>>(2, 1), one));
  CHECK(same_bits(train_six_steps<Tuned<llama_like, sharding::ShardOptimizer>>(2, 1), one));
  CHECK(same_bits(train_six_steps<Tuned<llama_like, sharding::ShardGradOp>>(2, 1), one));
  CHECK(same_bits(train_six_steps<Tuned<llama_like, sharding::FullShard>>(4, 1), one));
  CHECK(same_bits(train_six_steps<Tuned<llama_like, sharding::HybridShard<2>>>(4, 1), one));
  const Outcome tied = train_six_steps<Tuned<gpt2_like, sharding::Replicate>>(1, 1);
  CHECK(same_bits(train_six_steps<Tuned<gpt2_like, sharding::FullShard>>(2, 1), tied));
}

namespace {
struct Names {
  static constexpr ParameterSelector parameters[] = {"layers.*.mlp.*", ParameterClass::norm, "layers.0.*",
                                                     ParameterClass::embedding};
};
template <class R, class Strategy> struct InPart : Sharded<R, Strategy> {
  using finetuning = finetuning::Freeze<Names>;
};
template <class R, class Strategy> struct InPartByMuon : InPart<R, Strategy> {
  using optimizer = optim::ByClass<optim::Muon, optim::AdamW>;
};
template <class R, class Strategy> struct InPartOnHost : InPart<R, Strategy> {
  using optimizer = optim::HostState<optim::AdamW>;
};
}  // namespace

TEST_CASE("with frozen parameters, 1, 2 and 4 ranks give the same bits under every strategy") {
  const Outcome one = train_six_steps<InPart<llama_like, sharding::Replicate>>(1, 1);
  CHECK_FALSE(one.gradients.at(1).contains("layers.1.mlp.up.weight"));
  CHECK(one.gradients.at(1).contains("layers.1.attention.q.weight"));
  each_strategy([&]<class Strategy>(int ranks) {
    CHECK(same_bits(train_six_steps<InPart<llama_like, Strategy>>(ranks, 1), one));
  });
  CHECK(same_bits(train_six_steps<InPartOnHost<llama_like, sharding::FullShard>>(2, 1), one));
  CHECK(same_bits(train_six_steps<InPartOnHost<llama_like, sharding::HostParameters<sharding::Replicate>>>(1, 1), one));
  CHECK(same_bits(train_six_steps<InPartOnHost<llama_like, sharding::HostParameters<sharding::FullShard>>>(4, 1), one));
}

TEST_CASE("with frozen parameters beside matrices that are made orthogonal, 1 and 4 ranks give the same bits") {
  const Outcome one = train_six_steps<InPartByMuon<llama_like, sharding::Replicate>>(1, 1);
  CHECK(same_bits(train_six_steps<InPartByMuon<llama_like, sharding::ShardOptimizer>>(2, 1), one));
  CHECK(same_bits(train_six_steps<InPartByMuon<llama_like, sharding::FullShard>>(4, 1), one));
}

namespace {
inline constexpr LowRankSpec adapters{.rank = 3,
                                      .alpha = 6,
                                      .dropout = 0.2,
                                      .targets = {.output = true, .gate = true, .down = true}};
template <class R, class Strategy> struct Adapted : Sharded<R, Strategy> {
  using finetuning = finetuning::LowRank<adapters>;
};
}  // namespace

TEST_CASE("with low-rank adapters, 1, 2 and 4 ranks give the same bits under every strategy") {
  const Outcome one = train_six_steps<Adapted<llama_like, sharding::Replicate>>(1, 1);
  CHECK_FALSE(one.gradients.at(1).contains("layers.1.mlp.down.weight"));
  CHECK(one.gradients.at(1).contains("layers.1.mlp.down.lora_B"));
  each_strategy([&]<class Strategy>(int ranks) {
    CHECK(same_bits(train_six_steps<Adapted<llama_like, Strategy>>(ranks, 1), one));
  });
  const Outcome rounded = train_six_steps<Adapted<InBf16<llama_like>, sharding::Replicate>>(1, 1);
  CHECK(same_bits(train_six_steps<Adapted<InBf16<llama_like>, sharding::FullShard>>(4, 1), rounded));
}

namespace {
template <class R, class Strategy> struct OverNf4 : Sharded<R, Strategy> {
  using finetuning = finetuning::Nf4Base<finetuning::LowRank<adapters>>;
};
template <class R, class Strategy> struct OverNf4OnHost : OverNf4<R, Strategy> {
  using optimizer = optim::HostState<optim::AdamW>;
};
}  // namespace

TEST_CASE("with a base in NF4, 1, 2 and 4 ranks give the same bits under every strategy") {
  const Outcome one = train_six_steps<OverNf4<llama_like, sharding::Replicate>>(1, 1);
  CHECK(one.initial.contains("layers.1.mlp.down.weight.codes"));
  CHECK_FALSE(one.initial.contains("layers.1.mlp.down.weight"));
  CHECK(one.parameters.at("layers.1.mlp.down.weight.codes") == one.initial.at("layers.1.mlp.down.weight.codes"));
  CHECK(one.parameters.at("layers.1.mlp.down.lora_B") != one.initial.at("layers.1.mlp.down.lora_B"));
  each_strategy([&]<class Strategy>(int ranks) {
    CHECK(same_bits(train_six_steps<OverNf4<llama_like, Strategy>>(ranks, 1), one));
  });
  CHECK(
      same_bits(train_six_steps<OverNf4OnHost<llama_like, sharding::HostParameters<sharding::Replicate>>>(1, 1), one));
  CHECK(
      same_bits(train_six_steps<OverNf4OnHost<llama_like, sharding::HostParameters<sharding::FullShard>>>(4, 1), one));
  const Outcome rounded = train_six_steps<OverNf4<InBf16<llama_like>, sharding::Replicate>>(1, 1);
  CHECK(same_bits(train_six_steps<OverNf4<InBf16<llama_like>, sharding::FullShard>>(4, 1), rounded));
}

namespace {
struct Groups {
  static constexpr ParameterGroup groups[] = {{.parameters = "layers.*.attention.k.weight",
                                               .lr_multiplier = 3,
                                               .weight_decay_multiplier = 0},
                                              {.parameters = ParameterClass::norm, .lr_multiplier = 0.1},
                                              {.parameters = "*", .layer_decay = 0.8}};
};
template <class R, class Strategy, class Optimizer = optim::AdamW> struct Grouped : Sharded<R, Strategy> {
  using optimizer = optim::Grouped<Optimizer, Groups>;
};
}  // namespace

TEST_CASE("with groups of parameters, 1, 2 and 4 ranks give the same bits") {
  const Outcome one = train_six_steps<Grouped<llama_like, sharding::Replicate>>(1, 1);
  CHECK_FALSE(same_bits(one, train_six_steps<Sharded<llama_like, sharding::Replicate>>(1, 1)));
  CHECK(same_bits(train_six_steps<Grouped<llama_like, sharding::ShardOptimizer>>(2, 1), one));
  CHECK(same_bits(train_six_steps<Grouped<llama_like, sharding::ShardGradOp>>(2, 1), one));
  CHECK(same_bits(train_six_steps<Grouped<llama_like, sharding::FullShard>>(4, 1), one));
  CHECK(same_bits(train_six_steps<Grouped<llama_like, sharding::HybridShard<2>, optim::HostState<optim::AdamW>>>(4, 1),
                  one));
}

namespace {
/// All that may wait in the host's memory, there.
template <class R, class Strategy> struct OnHost : Sharded<R, Strategy> {
  using checkpointing = checkpointing::Offload<>;
  using optimizer = optim::HostState<optim::AdamW>;
};
}  // namespace

TEST_CASE("with state, activations and parameters on the host, 1, 2 and 4 ranks give the same bits as without") {
  const Outcome one = train_six_steps<Sharded<llama_like, sharding::Replicate>>(1, 1);
  CHECK(same_bits(train_six_steps<OnHost<llama_like, sharding::Replicate>>(1, 1), one));
  CHECK(same_bits(train_six_steps<OnHost<llama_like, sharding::ShardOptimizer>>(2, 1), one));
  CHECK(same_bits(train_six_steps<OnHost<llama_like, sharding::FullShard>>(4, 1), one));
  CHECK(same_bits(train_six_steps<OnHost<llama_like, sharding::HostParameters<sharding::Replicate>>>(2, 1), one));
  CHECK(same_bits(train_six_steps<OnHost<llama_like, sharding::HostParameters<sharding::FullShard>>>(1, 1), one));
  CHECK(same_bits(train_six_steps<OnHost<llama_like, sharding::HostParameters<sharding::FullShard>>>(4, 1), one));
  CHECK(same_bits(train_six_steps<OnHost<llama_like, sharding::HostParameters<sharding::HybridShard<2>>>>(4, 1), one));
}

namespace {

/// Eight ranks are four replicas of a pair.
template <class Strategy> void check_four_replicas() {
  CAPTURE(monomorph::type_name<Strategy>());
  const auto program = training_program<Sharded<Shrunk<1>, Strategy>>();
  const Extent extent{.steps = 10, .samples_per_step = 16, .gradients_at = {1, 10}};
  const Outcome one = train(program, {}, extent), eight = train(program, {.ranks = 8, .accumulation = 2}, extent);
  CHECK(eight.initial == one.initial);
  CHECK(worst_difference(eight.losses, one.losses) < 1e-6);
  for (const int step : extent.gradients_at)
    CHECK(worst_difference(eight.gradients.at(step), one.gradients.at(step)).error < 1e-5);
  CHECK(same_bits(train(program, {.ranks = 8, .accumulation = 2, .in_tree = true}, extent),
                  train(program, {.ranks = 1, .accumulation = 16, .in_tree = true}, extent)));
}

}  // namespace

TEST_CASE("four replicas of a pair of ranks train as one rank, with its bits in the fixed tree") {
  check_four_replicas<sharding::HybridShard<2>>();
  check_four_replicas<sharding::HybridShardGradOp<2>>();
}

TEST_CASE("parameters that are rounded at random have the same bits on every number of ranks") {
  using recipe = InBf16Pure<llama_like>;
  const Outcome one = train_six_steps<Sharded<recipe, sharding::Replicate>>(1, 2);
  CHECK(same_bits(train_six_steps<Sharded<recipe, sharding::FullShard>>(2, 2), one));
  CHECK(same_bits(train_six_steps<Sharded<recipe, sharding::FullShard>>(4, 2), one));
  CHECK(same_bits(train_six_steps<Sharded<recipe, sharding::HybridShard<2>>>(4, 2), one));
}

TEST_CASE("gradients that are rounded to bf16 between ranks are those of one rank but for that rounding") {
  using recipe = Sharded<ReducedInBf16<gpt2_like>, sharding::FullShard>;
  const auto program = training_program<recipe>();
  const Outcome one = train(program, {.ranks = 1, .accumulation = 2}, {}), two = train(program, {.ranks = 2}, {});
  const double error = worst_difference(two.gradients.at(1), one.gradients.at(1)).error;
  CHECK(error < 0x1p-8);  // half a unit in the last place of each rank's part
  CHECK(error > 0);
}

}  // namespace monomorph::testing
