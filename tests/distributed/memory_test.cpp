// What ranks take from the system, against the plan: the arena to the byte, everything together within 3 %, never more
// than planned. Resident memory at full size is measured by bench/memory.
#include <monomorph/core/type_name.hpp>
#include "numerics/regions_check.hpp"
#include "numerics/schedule_recipes.hpp"
#include "numerics/teacher.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/counting_allocator.hpp"
#include "support/ranks.hpp"

#include <atomic>

namespace monomorph::testing {
namespace {

/// Large enough that what is beside the plan does not show, and quick still.
template <class R> struct Large : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.vocab_size = 8'000, model.d_model = 256, model.context_length = 64;
    model.attention_kernel = AttentionKernel::tiled, model.dropout.attention = 0;
    return model;
  }();
};

void take_steps(train::TrainingStep& step, const Sequences& sequences, std::int64_t T) {
  for (int number = 1; number <= 2; ++number) {
    for (const std::int64_t i : {0, 1}) accumulate(step, sequences.from(i, T), number, {i, 2});
    gradient_norm(step);
    update(step, number, 1);
  }
}

/// What the calling thread's kernels take once and keep: tiles, and the buffers of MKL, which depend on the processor.
template <Recipe R> void warm_up(const Sequences& sequences) {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 1, 3);
  step.take_teacher();
  take_steps(step, sequences, R::model.context_length);
}

/// Returns when all ranks have come.   @param where another name for each meeting
void meet(const World& world, const std::string& where) {
  world.set(where + std::to_string(world.rank()), "here");
  for (int rank = 0; rank < world.size(); ++rank) world.get(where + std::to_string(rank), rank);
}

/// Compares with a plan what ranks take from their beginning to their end.
/// @param f (const World&, Communicator&, std::atomic<std::int64_t>& in_arenas): of each rank, which calls `meet`
///   before it ends
template <Recipe R> void check_taken(int ranks, const plan::Memory& plan, const Sequences& sequences, auto&& f) {
  std::atomic<std::int64_t> in_arenas = 0, before = 0;
  with_ranks(ranks, [&](const World& world) {
    warm_up<R>(sequences);
    meet(world, "warm");
    if (world.rank() == 0) {
      before = live_bytes();
      reset_peak();
    }
    meet(world, "counting");
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), R::precision::reduce_dtype);
    f(world, *communicator, in_arenas);
  });
  const std::int64_t taken = peak_bytes() - before, planned = ranks * plan.total();
  CHECK(in_arenas == ranks * (plan.arena() + plan.teacher));
  CHECK(taken <= planned);
  CHECK(static_cast<double>(taken) >= 0.97 * static_cast<double>(planned));
}

/// Two steps of two micro-batches on each rank; what the process has taken meanwhile, and what was planned for it.
template <class R, class Strategy> void check_memory(int ranks, int tree_levels) {
  using recipe = Sharded<Large<R>, Strategy>;
  CAPTURE(monomorph::type_name<Strategy>(), ranks, tree_levels);
  constexpr std::int64_t T = recipe::model.context_length;
  const Sequences sequences(4, T, 50);
  std::string wrong;
  check_taken<recipe>(ranks, plan::memory<recipe>(ranks, 1, tree_levels), sequences,
                      [&](const World& world, Communicator& communicator, std::atomic<std::int64_t>& in_arenas) {
                        train::Step<recipe> step(communicator, 1, 3, tree_levels);
                        in_arenas += step.state().arena().bytes() - step.state().arena().unused_bytes();
                        step.take_teacher();
                        if constexpr (train::State<recipe>::is_taught) {
                          const Arena& arena = step.state().teacher.get()->arena();
                          in_arenas += arena.bytes() - arena.unused_bytes();
                        }
                        take_steps(step, sequences, T);
                        meet(world, "done");
                        if (world.rank() > 0) return;
                        wrong = wrong_regions(step.state(), ranks, 1, tree_levels);
                        if constexpr (train::State<recipe>::is_taught)
                          wrong += wrong_teacher_regions<recipe>(*step.state().teacher.get(), ranks, 1);
                      });
  CHECK(wrong == "");
}

/// Two evaluations on each rank, of a model that is not trained.
template <class R, class Strategy> void check_inference_memory(int ranks) {
  using recipe = Sharded<Large<R>, Strategy>;
  CAPTURE(monomorph::type_name<Strategy>(), ranks);
  constexpr std::int64_t T = recipe::model.context_length;
  const Sequences sequences(4, T, 50);
  const plan::Memory plan =
      plan::memory_with<recipe>(plan::with(plan::strategy_of<recipe>(ranks), plan::Purpose::inference), ranks, 1);
  CHECK(plan.total() < plan::memory<recipe>(ranks, 1).total() / 2);
  check_taken<recipe>(ranks, plan, sequences,
                      [&](const World& world, Communicator& communicator, std::atomic<std::int64_t>& in_arenas) {
                        train::Step<recipe> model(communicator, 1, 0, 0, {}, Transfers::Timing::at_once,
                                                  plan::Purpose::inference);
                        in_arenas += model.state().arena().bytes() - model.state().arena().unused_bytes();
                        for (const std::int64_t i : {0, 1}) model.evaluate(sequences.from(i, T));
                        meet(world, "done");
                      });
}

template <class R> void check_strategies() {
  check_memory<R, sharding::Replicate>(2, 0);
  check_memory<R, sharding::ShardOptimizer>(2, 0);
  check_memory<R, sharding::ShardOptimizer>(4, 1);
  check_memory<R, sharding::ShardGradOp>(2, 0);
  check_memory<R, sharding::FullShard>(2, 0);
  check_memory<R, sharding::FullShard>(4, 1);
  check_memory<R, sharding::HybridShard<2>>(4, 0);
  check_memory<R, sharding::HybridShardGradOp<2>>(4, 0);
  check_memory<R, sharding::ReduceOncePerStep<sharding::FullShard>>(2, 0);
}

}  // namespace

TEST_CASE("ranks take the memory that is planned: tied head") { check_strategies<gpt2_like>(); }
TEST_CASE("ranks take the memory that is planned: head of its own, bf16") { check_strategies<InBf16<llama_like>>(); }

TEST_CASE("ranks that only evaluate take the memory that is planned") {
  check_inference_memory<gpt2_like, sharding::Replicate>(2);
  check_inference_memory<gpt2_like, sharding::FullShard>(4);
  check_inference_memory<InBf16<llama_like>, sharding::Replicate>(2);
  check_inference_memory<InBf16<llama_like>, sharding::ShardGradOp>(2);
  check_inference_memory<InBf16<llama_like>, sharding::FullShard>(4);
  check_inference_memory<InBf16<llama_like>, sharding::HybridShard<2>>(4);
}

namespace {
template <class R> struct InFp8 : R { using precision = precision::Fp8Mixed; };
}  // namespace

TEST_CASE("ranks take the memory that is planned: products in fp8") {
  check_memory<InFp8<gpt2_like>, sharding::Replicate>(2, 0);
  check_memory<InFp8<llama_like>, sharding::ShardOptimizer>(4, 1);
  check_memory<InFp8<llama_like>, sharding::FullShard>(2, 0);
  check_memory<InFp8<llama_like>, sharding::HybridShard<2>>(4, 0);
}

namespace {
template <class R> struct OverNf4 : R {
  using finetuning = finetuning::Nf4Base<finetuning::LowRank<LowRankSpec{.rank = 2, .alpha = 4}>>;
};
}  // namespace

TEST_CASE("ranks take the memory that is planned: a base in NF4, and products in fp8 with it") {
  check_memory<InFp8<OverNf4<llama_like>>, sharding::FullShard>(2, 0);
  check_memory<OverNf4<llama_like>, sharding::Replicate>(2, 0);
  check_memory<OverNf4<InBf16<llama_like>>, sharding::FullShard>(2, 0);
  check_memory<OverNf4<InBf16<llama_like>>, sharding::FullShard>(4, 1);
}

namespace {
struct DeepTeacher : Large<Padded<llama_like>> {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = Large<Padded<llama_like>>::model;
    model.n_layers = 6;
    return model;
  }();
};
using Taught = TaughtBy<gpt2_like, DeepTeacher>;
}  // namespace

TEST_CASE("ranks take the memory that is planned: a teacher that is deeper") {
  // Not Replicate, which has no buffers for gradients on their way, and so no room for the names of tensors: 19 KB.
  check_memory<Taught, sharding::ShardGradOp>(2, 0);
  check_memory<Taught, sharding::FullShard>(2, 0);
  check_memory<InBf16<Taught>, sharding::FullShard>(4, 1);
  check_memory<Taught, sharding::HybridShard<2>>(4, 0);
}

}  // namespace monomorph::testing
