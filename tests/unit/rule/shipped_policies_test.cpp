// Shipped policies are asserted here and not beside their definitions, where each recipe would judge those that it does
// not have (docs/why/build_time.md).
#include <monomorph/device/cpu.hpp>
#include <monomorph/device/cuda.hpp>
#include <monomorph/finetuning/all.hpp>
#include <monomorph/optim/muon.hpp>
#include <monomorph/run.hpp>
#include "support/catch.hpp"

namespace monomorph {

TEST_CASE("attention policies in the tree are attention policies") {
  STATIC_REQUIRE(AttentionPolicy<attention::Bidirectional>);
  STATIC_REQUIRE(AttentionPolicy<attention::Causal>);
  STATIC_REQUIRE(AttentionPolicy<attention::Prefix<256>>);
  STATIC_REQUIRE(AttentionPolicy<attention::SlidingWindow<4096>>);
  STATIC_REQUIRE(AttentionPolicy<attention::WithinDocuments>);
}

TEST_CASE("checkpointing policies in the tree are checkpointing policies") {
  STATIC_REQUIRE(CheckpointingPolicy<checkpointing::EveryBlock>);
  STATIC_REQUIRE(CheckpointingPolicy<checkpointing::EveryNthBlock<1>>);
  STATIC_REQUIRE(CheckpointingPolicy<checkpointing::Fraction<1, 2>>);
  STATIC_REQUIRE(CheckpointingPolicy<checkpointing::KeepAll>);
  STATIC_REQUIRE(CheckpointingPolicy<checkpointing::Offload<>>);
  STATIC_REQUIRE(CheckpointingPolicy<checkpointing::RecomputeCheap>);
  STATIC_REQUIRE(CheckpointingPolicy<checkpointing::Selective<Recompute{.attention = true}>>);
  STATIC_REQUIRE(CheckpointingPolicy<checkpointing::Selective<Recompute::cheap, checkpointing::EveryNthBlock<2>>>);
}

TEST_CASE("devices in the tree are device policies") {
  STATIC_REQUIRE(DevicePolicy<device::Cpu>);
  STATIC_REQUIRE(DevicePolicy<device::Cuda>);
}

TEST_CASE("finetuning policies in the tree are finetuning policies") {
  STATIC_REQUIRE(FinetuningPolicy<finetuning::All>);
  STATIC_REQUIRE(FinetuningPolicy<finetuning::FreezeFirst<1>>);
  STATIC_REQUIRE(FinetuningPolicy<finetuning::HeadOnly>);
  STATIC_REQUIRE(FinetuningPolicy<finetuning::LowRank<LowRankSpec{.rank = 8, .alpha = 16}>>);
  STATIC_REQUIRE(FinetuningPolicy<finetuning::Nf4Base<finetuning::LowRank<LowRankSpec{.rank = 8, .alpha = 16}>>>);
}

TEST_CASE("objectives in the tree are objective policies") {
  STATIC_REQUIRE(ObjectivePolicy<objective::ContrastivePairs>);
  STATIC_REQUIRE(ObjectivePolicy<objective::Distillation<struct SomeRecipe>>);
  STATIC_REQUIRE(ObjectivePolicy<objective::MaskedTokens<0>>);
  STATIC_REQUIRE(ObjectivePolicy<objective::NextToken>);
}

TEST_CASE("observers in the tree are observer policies") { STATIC_REQUIRE(ObserverPolicy<observer::TensorNorms>); }

TEST_CASE("optimisers in the tree are optimiser policies") {
  STATIC_REQUIRE(OptimizerPolicy<optim::AdamW>);
  STATIC_REQUIRE(OptimizerPolicy<optim::Bf16State<optim::AdamW>>);
  STATIC_REQUIRE(OptimizerPolicy<optim::ByClass<optim::Muon, optim::AdamW>>);
  STATIC_REQUIRE(OptimizerPolicy<optim::HostState<optim::AdamW>>);
  STATIC_REQUIRE(OptimizerPolicy<optim::Lion>);
  STATIC_REQUIRE(OptimizerPolicy<optim::Muon>);
  STATIC_REQUIRE(OptimizerPolicy<optim::Bf16Muon>);
  STATIC_REQUIRE(OptimizerPolicy<optim::Averaged<optim::AdamW>>);
  STATIC_REQUIRE(OptimizerPolicy<optim::ByClass<optim::Lion, optim::AdamW>>);
  STATIC_REQUIRE(OptimizerPolicy<optim::Sgd>);
}

TEST_CASE("precisions in the tree are precision policies") {
  STATIC_REQUIRE(PrecisionPolicy<precision::Bf16Mixed>);
  STATIC_REQUIRE(PrecisionPolicy<precision::Bf16MixedReducingBf16>);
  STATIC_REQUIRE(PrecisionPolicy<precision::Bf16Pure>);
  STATIC_REQUIRE(PrecisionPolicy<precision::Fp16Mixed>);
  STATIC_REQUIRE(PrecisionPolicy<precision::Fp8Mixed>);
  STATIC_REQUIRE(PrecisionPolicy<precision::Fp32>);
  STATIC_REQUIRE(PrecisionPolicy<precision::Fp64>);
  STATIC_REQUIRE(PrecisionPolicy<precision::NarrowLogits<precision::Bf16Mixed>>);
}

TEST_CASE("the schedule in the tree is a schedule policy") { STATIC_REQUIRE(SchedulePolicy<schedule::WarmupDecay>); }

TEST_CASE("sharding strategies in the tree are sharding policies") {
  STATIC_REQUIRE(ShardingPolicy<sharding::FullShard>);
  STATIC_REQUIRE(ShardingPolicy<sharding::HostParameters<sharding::FullShard>>);
  STATIC_REQUIRE(ShardingPolicy<sharding::HybridShard<2>>);
  STATIC_REQUIRE(ShardingPolicy<sharding::HybridShardGradOp<2>>);
  STATIC_REQUIRE(ShardingPolicy<sharding::ReduceOncePerStep<sharding::FullShard>>);
  STATIC_REQUIRE(ShardingPolicy<sharding::Replicate>);
  STATIC_REQUIRE(ShardingPolicy<sharding::ShardGradOp>);
  STATIC_REQUIRE(ShardingPolicy<sharding::ShardOptimizer>);
}

}  // namespace monomorph
