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
  STATIC_CHECK(AttentionPolicy<attention::Bidirectional>);
  STATIC_CHECK(AttentionPolicy<attention::Causal>);
  STATIC_CHECK(AttentionPolicy<attention::Prefix<256>>);
  STATIC_CHECK(AttentionPolicy<attention::SlidingWindow<4096>>);
  STATIC_CHECK(AttentionPolicy<attention::WithinDocuments>);
}

TEST_CASE("checkpointing policies in the tree are checkpointing policies") {
  STATIC_CHECK(CheckpointingPolicy<checkpointing::EveryBlock>);
  STATIC_CHECK(CheckpointingPolicy<checkpointing::EveryNthBlock<1>>);
  STATIC_CHECK(CheckpointingPolicy<checkpointing::Fraction<1, 2>>);
  STATIC_CHECK(CheckpointingPolicy<checkpointing::KeepAll>);
  STATIC_CHECK(CheckpointingPolicy<checkpointing::Offload<>>);
  STATIC_CHECK(CheckpointingPolicy<checkpointing::RecomputeCheap>);
}

TEST_CASE("devices in the tree are device policies") {
  STATIC_CHECK(DevicePolicy<device::Cpu>);
  STATIC_CHECK(DevicePolicy<device::Cuda>);
}

TEST_CASE("finetuning policies in the tree are finetuning policies") {
  STATIC_CHECK(FinetuningPolicy<finetuning::All>);
  STATIC_CHECK(FinetuningPolicy<finetuning::FreezeFirst<1>>);
  STATIC_CHECK(FinetuningPolicy<finetuning::HeadOnly>);
}

TEST_CASE("objectives in the tree are objective policies") {
  STATIC_CHECK(ObjectivePolicy<objective::ContrastivePairs>);
  STATIC_CHECK(ObjectivePolicy<objective::MaskedTokens<0>>);
  STATIC_CHECK(ObjectivePolicy<objective::NextToken>);
}

TEST_CASE("observers in the tree are observer policies") { STATIC_CHECK(ObserverPolicy<observer::TensorNorms>); }

TEST_CASE("optimisers in the tree are optimiser policies") {
  STATIC_CHECK(OptimizerPolicy<optim::AdamW>);
  STATIC_CHECK(OptimizerPolicy<optim::Bf16State<optim::AdamW>>);
  STATIC_CHECK(OptimizerPolicy<optim::ByClass<optim::Muon, optim::AdamW>>);
  STATIC_CHECK(OptimizerPolicy<optim::HostState<optim::AdamW>>);
  STATIC_CHECK(OptimizerPolicy<optim::Lion>);
  STATIC_CHECK(OptimizerPolicy<optim::Muon>);
  STATIC_CHECK(OptimizerPolicy<optim::Sgd>);
}

TEST_CASE("precisions in the tree are precision policies") {
  STATIC_CHECK(PrecisionPolicy<precision::Bf16Mixed>);
  STATIC_CHECK(PrecisionPolicy<precision::Bf16MixedReducingBf16>);
  STATIC_CHECK(PrecisionPolicy<precision::Bf16Pure>);
  STATIC_CHECK(PrecisionPolicy<precision::Fp16Mixed>);
  STATIC_CHECK(PrecisionPolicy<precision::Fp32>);
  STATIC_CHECK(PrecisionPolicy<precision::Fp64>);
}

TEST_CASE("the schedule in the tree is a schedule policy") { STATIC_CHECK(SchedulePolicy<schedule::WarmupDecay>); }

TEST_CASE("sharding strategies in the tree are sharding policies") {
  STATIC_CHECK(ShardingPolicy<sharding::FullShard>);
  STATIC_CHECK(ShardingPolicy<sharding::HostParameters<sharding::FullShard>>);
  STATIC_CHECK(ShardingPolicy<sharding::HybridShard<2>>);
  STATIC_CHECK(ShardingPolicy<sharding::HybridShardGradOp<2>>);
  STATIC_CHECK(ShardingPolicy<sharding::ReduceOncePerStep<sharding::FullShard>>);
  STATIC_CHECK(ShardingPolicy<sharding::Replicate>);
  STATIC_CHECK(ShardingPolicy<sharding::ShardGradOp>);
  STATIC_CHECK(ShardingPolicy<sharding::ShardOptimizer>);
}

}  // namespace monomorph
