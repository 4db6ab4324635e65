#include "train/describe/memory_advice.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/device/cuda.hpp>
#include <monomorph/run.hpp>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace memory_advices {
namespace {

struct Gpt2 {
  static constexpr auto model = models::gpt2_124m;
  using sharding = sharding::Replicate;
  using precision = precision::Bf16Mixed;
  using checkpointing = checkpointing::KeepAll;
  using optimizer = optim::AdamW;
};
struct OnGpu : Gpt2 {
  using device = device::Cuda;
};
template <class R, class Policy> struct CheckpointedAs : R { using checkpointing = Policy; };
template <class R, class Policy> struct ShardedAs : R { using sharding = Policy; };
template <class R, class Policy> struct OptimizedBy : R { using optimizer = Policy; };

template <class R> RecipeProgram program() {
  RecipeProgram program;
  program.memory = plan::memory<R>;
  program.planned = plan::planned_recipe<R>();
  return program;
}

/// What is said where a rank of so many has so many bytes.
template <class R> std::string advice(std::int64_t available, std::int64_t micro_batch, int ranks = 1) {
  Hparams hparams;
  hparams.batch.global_batch.value = 16 * ranks;
  hparams.batch.micro_batch.value = micro_batch;
  return memory_advice(program<R>(), hparams, ranks, [available](const plan::Memory& memory, std::int64_t) {
    return memory.budgeted() <= available;
  });
}
/// Bytes of a plan.
template <class R> std::int64_t bytes(std::int64_t micro_batch, int ranks = 1) {
  return plan::memory<R>(ranks, micro_batch).budgeted();
}

}  // namespace

TEST_CASE("the three largest parts of a plan are named with their bytes") {
  const plan::Memory memory{.gradients = 3 << 20, .optimizer_state = 7 << 20, .activations = 5 << 20, .scalars = 100};
  CHECK(largest_parts(memory) ==
        "the largest parts of the plan are optimizer state with 7.00 MiB, activations with 5.00 MiB and gradients with "
        "3.00 MiB");
  CHECK(contains(largest_parts({.gradient_tree = 9 << 20}), "partial sums of gradients with 9.00 MiB"));
  CHECK(contains(largest_parts({.device_communication = 9 << 20, .arena_on_host = false}),
                 "collectives between devices with 9.00 MiB"));
  // What waits on the host is no part of a GPU's memory.
  CHECK_FALSE(contains(largest_parts({.host_optimizer = 9 << 20, .arena_on_host = false}), "host"));
}

TEST_CASE("a smaller micro-batch comes first, the largest that divides and fits") {
  CHECK(contains(advice<Gpt2>(bytes<Gpt2>(9), 16), "; change batch.micro_batch to 8, which fits"));
  CHECK(contains(advice<Gpt2>(bytes<Gpt2>(8) - 1, 16), "; change batch.micro_batch to 4, which fits"));
  CHECK(contains(advice<Gpt2>(bytes<Gpt2>(1), 16), "; change batch.micro_batch to 1, which fits"));
}

TEST_CASE("then what costs least: shards, recomputation of what is cheap, the host, recomputation of blocks") {
  using checkpointing::EveryBlock, checkpointing::RecomputeCheap, checkpointing::Offload;
  using Cheap = CheckpointedAs<Gpt2, RecomputeCheap>;
  using Every = CheckpointedAs<Gpt2, EveryBlock>;
  CHECK(contains(advice<Gpt2>(bytes<Cheap>(1), 1), "; change checkpointing to RecomputeCheap, which fits"));
  CHECK(contains(advice<Gpt2>(bytes<Every>(1), 1), "; change checkpointing to EveryBlock, which fits"));
  const std::int64_t sharded = bytes<ShardedAs<Gpt2, sharding::ShardOptimizer>>(1, 8);
  CHECK(contains(advice<Gpt2>(sharded, 1, 8), "; change sharding to ShardOptimizer, which fits"));
  // It comes first where both would do: ranks then send as many bytes as before, and compute nothing twice.
  CHECK(contains(advice<Gpt2>(std::max(sharded, bytes<Cheap>(1, 8)), 1, 8),
                 "; change sharding to ShardOptimizer, which fits"));
  CHECK(contains(advice<Gpt2>(bytes<ShardedAs<Gpt2, sharding::ShardGradOp>>(1, 8), 1, 8),
                 "; change sharding to ShardGradOp, which fits"));
  CHECK(contains(advice<Gpt2>(bytes<ShardedAs<Every, sharding::FullShard>>(1, 8), 1, 8),
                 "; change sharding to FullShard and checkpointing to EveryBlock, which fits"));
  using Waiting = OptimizedBy<OnGpu, optim::HostState<optim::AdamW>>;
  CHECK(contains(advice<OnGpu>(bytes<Waiting>(1), 1), "; put the optimizer in HostState, which fits"));
  CHECK(contains(advice<Waiting>(bytes<CheckpointedAs<Waiting, Offload<>>>(1), 1),
                 "; put checkpointing in Offload, which fits"));
}

TEST_CASE("of single choices of what to recompute the one with the fewest operations that fits") {
  using Attention =
      CheckpointedAs<Gpt2, checkpointing::Selective<Recompute{.norm = true, .activation = true, .attention = true}>>;
  CHECK(contains(advice<Gpt2>(bytes<Attention>(1), 1),
                 "; change checkpointing to Selective<Recompute{.norm = true, .activation = true, .attention = true}>, "
                 "which fits"));
  using AllButMlp =
      CheckpointedAs<Gpt2, checkpointing::Selective<Recompute{
                               .norm = true, .activation = true, .qkv = true, .attention = true, .projection = true}>>;
  CHECK(contains(advice<Gpt2>(bytes<AllButMlp>(1) - 1, 1), ".mlp = true}>, which fits"));
}

TEST_CASE("two changes together, or none that would do") {
  using Every = ShardedAs<CheckpointedAs<Gpt2, checkpointing::EveryBlock>, sharding::FullShard>;
  CHECK(contains(advice<Gpt2>(bytes<Every>(1, 8), 16, 8),
                 "; change sharding to FullShard and checkpointing to EveryBlock, and change batch.micro_batch to 1, "
                 "which fit together"));
  CHECK(contains(advice<Gpt2>(1000, 16), "; take a smaller recipe, more ranks or a larger machine"));
  CHECK(contains(advice<Gpt2>(1000, 1, 8), "; take a smaller recipe, more ranks or a larger machine"));
}

}  // namespace memory_advices
