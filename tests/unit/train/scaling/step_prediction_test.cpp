#include "train/scaling/step_prediction.hpp"

#include <monomorph/core/type_name.hpp>

#include "recipes.hpp"
#include "support/catch.hpp"
#include "support/predicted_operations.hpp"
#include "train/scaling/device_memory.hpp"
#include "train/scaling/strategies.hpp"

using namespace monomorph;
using namespace monomorph::train;
using namespace scaling_tests;

namespace {

Cluster cluster(std::string_view gpu = "h100", std::string_view network = "infiniband400") {
  return {find_gpu(gpu), find_network(network), 8};
}
template <class R> PlannedRun run_of(int ranks, std::int64_t micro_batch = 1, const Cluster& on = cluster()) {
  return {on, ranks, micro_batch, 1, plan::strategy_of<R>(ranks)};
}
template <class R> StepPrediction predict(int ranks, std::int64_t micro_batch = 1, const Cluster& on = cluster()) {
  return predict(plan::planned_recipe<R>(), run_of<R>(ranks, micro_batch, on));
}
template <class R>
StepPrediction predict_with(plan::ShardingValues sharding, int ranks, const Cluster& on = cluster()) {
  PlannedRun run = run_of<R>(ranks, 1, on);
  run.strategy.sharding = sharding;
  return predict(plan::planned_recipe<R>(), run);
}
/// At the peak of an H100.
template <class R> double roof(std::int64_t micro_batch) {
  return static_cast<double>(micro_batch * R::model.context_length) * plan::flops_per_token<R>().exact / 989.4e12;
}

}  // namespace

TEST_CASE("a rank alone waits for nobody, and is slower than its roof") {
  const StepPrediction step = predict<Gpt2>(1, 32);
  CHECK(step.communication_seconds == 0);
  CHECK(step.exposed_seconds == 0);
  CHECK(step.step_seconds > roof<Gpt2>(32));
  CHECK(step.mfu == Approx(roof<Gpt2>(32) / step.step_seconds));
  CHECK(step.tokens_per_second == Approx(32 * 1024 / step.step_seconds));
  const plan::FlopsPerToken flops = plan::flops_per_token<Gpt2>();
  CHECK(step.mfu_palm / step.mfu == Approx(flops.palm / flops.exact));
  CHECK(step.fits);
}

TEST_CASE("products of blocks in fp8 take their share of that peak, and what rounding their tensors takes") {
  const StepPrediction bf16 = predict<Llama8b>(8), fp8 = predict<Llama8bInFp8>(8);
  const double faster = bf16.step_seconds / fp8.step_seconds;
  CAPTURE(faster);
  CHECK(faster > 1.2);  // 1.29 was published of such a model on 128 GPUs
  CHECK(faster < 1.6);
  CHECK(fp8.mfu == Approx(fp8.tokens_per_second * plan::flops_per_token<Llama8bInFp8>().exact / 1978.9e12));
  CHECK(plan::flops_per_token<Llama8bInFp8>().exact == plan::flops_per_token<Llama8b>().exact);
}

TEST_CASE("another program's kernels that round take what they move, and its ranks gather what they have rounded") {
  const plan::PlannedRecipe recipe = plan::planned_recipe<Llama8bInFp8>();
  const PlannedRun one = run_of<Llama8bInFp8>(1), eight = run_of<Llama8bInFp8>(8);
  Calibration calibrated = calibration(), moving = calibrated;
  calibrated.rounding = RoundingBytes{.gathered_weight = 2};
  moving.rounding = RoundingBytes{
      .forward_token = 3e6, .backward_token = 1e6, .forward_weight = 1, .backward_weight = 4, .gathered_weight = 1};
  const double tokens = static_cast<double>(one.micro_batches * one.micro_batch * Llama8bInFp8::model.context_length);
  double bytes = 0;
  for (int i = 0; i < recipe.n_layers; ++i)
    if (const plan::LayerWork layer = recipe.layer_work(i); layer.kind == UnitKind::block)
      bytes += tokens * 4e6 + layer.products / 2 * 5;
  CHECK(predict(recipe, one, moving).step_seconds - predict(recipe, one, calibrated).step_seconds ==
        Approx(bytes / one.cluster.gpu->memory_bandwidth));
  CHECK(predict(recipe, eight, moving).communication_seconds <
        predict(recipe, eight, calibrated).communication_seconds);
}

TEST_CASE("collectives take what their number and bytes by the plan take") {
  constexpr int ranks = 64;
  const Cluster on = cluster();
  const Calibration& c = calibration();
  const double fixed = CollectiveTime(on).gather({ranks, 8}, 0), bandwidth = c.network * 8 * 50e9;
  const auto check = [&]<class R>(R, std::int64_t micro_batches) {
    PlannedRun run = run_of<R>(ranks);
    run.micro_batches = micro_batches;
    const plan::Traffic traffic = plan::traffic<R>(ranks, 0, micro_batches, DType::fp32);
    const double collectives = static_cast<double>(traffic.gathers.collectives + traffic.reductions.collectives),
                 bytes = static_cast<double>(traffic.gathers.bytes + traffic.reductions.bytes);
    CAPTURE(type_name<typename R::sharding>(), R::model.tied_head.value, micro_batches);
    CHECK(predict(plan::planned_recipe<R>(), run).communication_seconds ==
          Approx(collectives * fixed + bytes / std::min(bandwidth, c.network * 450e9)).epsilon(1e-4));
  };
  for (const std::int64_t micro_batches : {1, 3}) {
    check(Llama8b{}, micro_batches);
    check(Llama1bTied{}, micro_batches);
    check(Zero2{}, micro_batches);
    check(Zero1{}, micro_batches);
    check(TaughtByLlama8b{}, micro_batches);
    check(TaughtByLlama1b{}, micro_batches);
    check(TaughtInZero2{}, micro_batches);
  }
}

TEST_CASE("kernels take what the plan's operations take, a teacher's among them") {
  const auto check = [&]<class R>(R) {
    CAPTURE(type_name<R>());
    CHECK(testing::predicted_operations(plan::planned_recipe<R>(), 2, 3) ==
          Approx(plan::flops_per_token<R>().exact).epsilon(1e-9));
  };
  check(Gpt2{});
  check(Llama1bTied{});
  check(FrozenBelow{});
  check(TaughtByLlama8b{});
  check(TaughtByLlama1b{});
}

TEST_CASE("an update by Muon takes what the products of its iterations take, in fp32 or in bf16") {
  // Of a block four matrices of D x D and two of D x 4 D.
  constexpr double D = 768, elements = D * D, blocks = 12;
  const auto iterations = static_cast<double>(optim::MuonHparams{}.iterations.value);
  const double flops = blocks * iterations * 2 * D * (4 * (2 * elements + elements) + 2 * (8 * elements + elements));
  const double in_fp32 = predict<ByMuon>(1).update_seconds, in_bf16 = predict<ByBf16Muon>(1).update_seconds,
               of_adamw = predict<Gpt2>(1).update_seconds;
  CHECK(in_fp32 - in_bf16 ==
        Approx(flops / calibration().products_on_hopper * (1 / 66.9e12 - 1 / 989.4e12)).epsilon(1e-3));
  CHECK(in_bf16 > flops / 989.4e12);
  CHECK(in_bf16 < of_adamw + 2 * flops / 989.4e12);  // with one buffer of state in place of two
  CHECK(predict<Averaged<ByBf16Muon>>(1).update_seconds > in_bf16);
}

TEST_CASE("ranks that share units share the work of transforming them, and exchange them") {
  const auto transforming = [](double of_one, int rounds) { return Approx(of_one * rounds / 32).epsilon(0.02); };
  // What is beyond AdamW's bytes, which are less by one buffer of state. Of 32 blocks ranks have one each at a time.
  const auto beyond_bytes = [](int ranks) {
    return predict<Llama8bByMuon>(ranks).update_seconds - predict<Llama8b>(ranks).update_seconds;
  };
  const double of_one = beyond_bytes(1);
  CHECK(beyond_bytes(8) == transforming(of_one, 4));
  CHECK(beyond_bytes(12) == transforming(of_one, 3));
  CHECK(beyond_bytes(64) == transforming(of_one, 1));
  const StepPrediction muon = predict<Llama8bByMuon>(64), adamw = predict<Llama8b>(64);
  CHECK(muon.communication_seconds > adamw.communication_seconds);
  CHECK(muon.step_seconds - muon.exposed_seconds > adamw.step_seconds - adamw.exposed_seconds + beyond_bytes(64));
  // A round of 32 blocks on 64 ranks, there and back; four on 8.
  const auto exchanged = [](int ranks, const PlacedRanks& group) {
    const double both_ways =
        predict<Llama8bByMuon>(ranks).communication_seconds - predict<Llama8b>(ranks).communication_seconds;
    const double block = static_cast<double>(plan::layer_work<Llama8b>(1).unit_elements * size_of(DType::fp32));
    return both_ways / (2 * CollectiveTime(cluster()).all_to_all(group, block));
  };
  CHECK(exchanged(64, {64, 8}) == Approx(1));
  CHECK(exchanged(8, {8, 8}) == Approx(4));
  // Where state waits on the host each rank transforms all, which it gathers.
  CHECK(predict<OnHost<Llama8bByMuon>>(64).update_seconds > muon.update_seconds + 25 * beyond_bytes(64));
  const plan::ShardingValues whole = plan::strategy_of<Gpt2>(8).sharding;
  CHECK(predict_with<ByMuon>(whole, 8).communication_seconds == predict_with<Gpt2>(whole, 8).communication_seconds);
}

TEST_CASE("a step with a teacher takes longer by the forward pass of its teacher") {
  const double alone = predict<Llama1bTied>(1).step_seconds, taught = predict<TaughtByLlama8b>(1).step_seconds,
               by_llama_8b = predict<Llama8b>(1).step_seconds - predict<Llama8b>(1).update_seconds;
  CAPTURE(alone, taught, by_llama_8b);
  CHECK(taught > alone + 0.3 * by_llama_8b);  // of three passes one
  CHECK(taught < alone + 0.4 * by_llama_8b);
}

TEST_CASE("a teacher's parameters come from the host once in a micro-batch") {
  PlannedRun run = run_of<TaughtFromHost>(8);
  const auto recipe = plan::planned_recipe<TaughtFromHost>();
  for (const std::int64_t micro_batches : {1, 4}) {
    run.micro_batches = micro_batches;
    const StepPrediction step = predict(recipe, run);
    CHECK(step.memory.host_teacher > 0);
    CHECK(step.step_seconds >= static_cast<double>(micro_batches) *
                                   static_cast<double>(2 * step.memory.host_params + step.memory.host_teacher) / 50e9 *
                                   (1 - 1e-9));
  }
}

TEST_CASE("a step is no shorter than its collectives, nor than its kernels") {
  for (const int ranks : {8, 64, 512})
    for (const std::string_view network : {"infiniband100", "infiniband400"})
      for (const NamedSharding& sharding : sharding_strategies(ranks, 8)) {
        CAPTURE(ranks, network, sharding.name);
        const StepPrediction step = predict_with<Llama8b>(sharding.values, ranks, cluster("h100", network));
        CHECK(step.step_seconds >= step.communication_seconds * (1 - 1e-9));
        CHECK(step.step_seconds > roof<Llama8b>(1) + step.exposed_seconds);
      }
}

TEST_CASE("slower networks, fewer bytes of memory a second and more recomputation make no step faster") {
  const double fast = predict<Llama8b>(64).step_seconds;
  CHECK(predict<Llama8b>(64, 1, cluster("h100", "infiniband100")).step_seconds >= fast);
  CHECK(predict<Llama8b>(64, 1, cluster("h200")).step_seconds < fast);
  CHECK(predict<Llama8b>(64, 1, cluster("a100")).step_seconds > fast);
  const auto recomputing = [](const plan::CheckpointingValues& policy) {
    PlannedRun run = run_of<Llama8b>(64);
    run.strategy.checkpointing = policy;
    return predict(plan::planned_recipe<Llama8b>(), run);
  };
  const StepPrediction all = recomputing(plan::checkpointing_values<checkpointing::EveryBlock>),
                       half = recomputing(plan::checkpointing_values<checkpointing::Fraction<1, 2>>),
                       cheap = recomputing(plan::checkpointing_values<checkpointing::RecomputeCheap>),
                       none = recomputing(plan::checkpointing_values<checkpointing::KeepAll>);
  CHECK(all.step_seconds > half.step_seconds);
  CHECK(half.step_seconds > cheap.step_seconds);
  CHECK(cheap.step_seconds > none.step_seconds);
  CHECK(bytes_on_gpu(all.memory) < bytes_on_gpu(half.memory));
  CHECK(bytes_on_gpu(half.memory) < bytes_on_gpu(none.memory));
  CHECK(bytes_on_gpu(cheap.memory) < bytes_on_gpu(none.memory));
}

TEST_CASE("what ranks hold shrinks as they divide more, and what they wait for does not") {
  constexpr int ranks = 64;
  const auto with = [&]<class Sharding>(Sharding) {
    return predict_with<Llama8b>(plan::sharding_values<Sharding>(ranks), ranks, cluster("h100", "infiniband100"));
  };
  const StepPrediction ddp = with(sharding::Replicate{}), zero1 = with(sharding::ShardOptimizer{}),
                       zero2 = with(sharding::ShardGradOp{}), zero3 = with(sharding::FullShard{}),
                       hybrid = with(sharding::HybridShard<8>{});
  CHECK(bytes_on_gpu(ddp.memory) > bytes_on_gpu(zero1.memory));
  CHECK(bytes_on_gpu(zero1.memory) > bytes_on_gpu(zero2.memory));
  CHECK(bytes_on_gpu(hybrid.memory) > bytes_on_gpu(zero3.memory));
  CHECK_FALSE(ddp.fits);
  CHECK(zero3.fits);
  CHECK(zero3.communication_seconds > zero2.communication_seconds);
}

TEST_CASE("micro-batches share an update and its collectives") {
  PlannedRun run = run_of<Llama8b>(512);
  run.strategy.sharding = plan::sharding_values<sharding::ShardOptimizer>(512);
  const auto recipe = plan::planned_recipe<Llama8b>();
  const StepPrediction one = predict(recipe, run);
  run.micro_batches = 8;
  const StepPrediction eight = predict(recipe, run);
  CHECK(eight.tokens_per_second > one.tokens_per_second);
  CHECK(eight.communication_seconds == Approx(one.communication_seconds));
  CHECK(eight.update_seconds == one.update_seconds);
}

TEST_CASE("frozen layers cost no backward") {
  CHECK(predict<FrozenBelow>(1, 8).step_seconds < 0.8 * predict<Gpt2>(1, 8).step_seconds);
}

TEST_CASE("state on the host takes what its link takes") {
  const StepPrediction step = predict<StateOnHost>(8), without = predict<Llama8b>(8);
  CHECK(step.memory.host() > 0);
  CHECK(bytes_on_gpu(step.memory) < bytes_on_gpu(without.memory));
  // It comes and goes within the update, so passes hide nothing of it.
  const double copies = 2 * static_cast<double>(step.memory.host_optimizer) / 50e9;
  CHECK(copies > step.update_seconds);
  CHECK(step.step_seconds == Approx(without.step_seconds - without.update_seconds + copies).epsilon(1e-3));
}

TEMPLATE_TEST_CASE("memory on a GPU is the same whatever device the program is built for", "",
                   (std::pair<Llama8b, Llama8bOnGpu>), (std::pair<Narrow, NarrowOnGpu>),
                   (std::pair<TaughtByLlama8b, TaughtByLlama8bOnGpu>), (std::pair<ByMuon, ByMuonOnGpu>)) {
  using OnCpu = typename TestType::first_type;
  for (const int ranks : {1, 64})
    for (const std::int64_t micro_batch : {1, 4}) {
      const plan::Strategy strategy = plan::strategy_of<OnCpu>(ranks);
      const plan::Memory derived = memory_on_gpu(plan::planned_recipe<OnCpu>(), strategy, ranks, micro_batch),
                         planned = plan::memory<typename TestType::second_type>(ranks, micro_batch);
      CAPTURE(ranks, micro_batch);
      CHECK(bytes_on_gpu(derived) == bytes_on_gpu(planned));
      CHECK(derived.in_main_memory() == planned.in_main_memory());
    }
}
