#pragma once
#include <monomorph/device/cuda.hpp>
#include <monomorph/objective/distillation.hpp>
#include <monomorph/plan/planned_recipe.hpp>
#include <monomorph/run.hpp>

/// Large recipes whose steps are predicted: planned and never instantiated.
namespace scaling_tests {

struct Llama8b {
  static constexpr auto model = monomorph::models::llama3_8b;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};
struct Llama8bInFp8 : Llama8b {
  using precision = monomorph::precision::Fp8Mixed;
};
struct Llama8bOnGpu : Llama8b {
  using device = monomorph::device::Cuda;
};
struct Narrow : Llama8b {
  using precision = monomorph::precision::NarrowLogits<monomorph::precision::Bf16Mixed>;
};
struct NarrowOnGpu : Narrow {
  using device = monomorph::device::Cuda;
};
struct Llama1bTied : Llama8b {
  static constexpr auto model = monomorph::models::llama3_1b;
};
struct TaughtByLlama8b : Llama1bTied {
  using objective = monomorph::objective::Distillation<Llama8b>;
};
struct TaughtByLlama1b : Llama8b {
  using objective = monomorph::objective::Distillation<Llama1bTied>;
};
struct TaughtInZero2 : TaughtByLlama1b {
  using sharding = monomorph::sharding::ShardGradOp;
};
struct TaughtFromHost : TaughtByLlama8b {
  using sharding = monomorph::sharding::HostParameters<monomorph::sharding::FullShard>;
};
struct TaughtByLlama8bOnGpu : TaughtByLlama8b {
  using device = monomorph::device::Cuda;
};
struct Gpt2 : Llama8b {
  static constexpr auto model = monomorph::models::gpt2_124m;
  using sharding = monomorph::sharding::Replicate;
};
struct ByMuon : Gpt2 {
  using optimizer = monomorph::optim::ByClass<monomorph::optim::Muon, monomorph::optim::AdamW>;
};
struct ByBf16Muon : Gpt2 {
  using optimizer = monomorph::optim::ByClass<monomorph::optim::Bf16Muon, monomorph::optim::AdamW>;
};
struct Llama8bByMuon : Llama8b {
  using optimizer = ByMuon::optimizer;
};
/// Beside a moving average of its weights.
template <class R> struct Averaged : R { using optimizer = monomorph::optim::Averaged<typename R::optimizer>; };
/// With its state in the host's memory.
template <class R> struct OnHost : R { using optimizer = monomorph::optim::HostState<typename R::optimizer>; };
struct ByMuonOnGpu : ByMuon {
  using device = monomorph::device::Cuda;
};
struct TwoBlocks : Gpt2 {
  static constexpr auto model = [] {
    auto spec = monomorph::models::gpt2_124m;
    spec.n_layers = 2;
    return spec;
  }();
};
struct Zero1 : Llama8b {
  using sharding = monomorph::sharding::ShardOptimizer;
};
struct Zero2 : Llama8b {
  using sharding = monomorph::sharding::ShardGradOp;
};
struct FrozenBelow : Gpt2 {
  using finetuning = monomorph::finetuning::FreezeFirst<6>;
};
struct InFp64 : Gpt2 {
  using precision = monomorph::precision::Fp64;
};
struct StateOnHost : Llama8b {
  using optimizer = monomorph::optim::HostState<monomorph::optim::AdamW>;
};

}  // namespace scaling_tests
