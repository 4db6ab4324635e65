#include "numerics/schedule_recipes.hpp"
#include "support/adamw_step.hpp"
#include "support/catch.hpp"
#include "support/ranks.hpp"
#include "support/tensors.hpp"
#include "train/step_totals.hpp"

#include <monomorph/sharding/reduce_once_per_step.hpp>

#include <cmath>
#include <mutex>
#include <random>

namespace monomorph::testing {
namespace {

template <class R, class Strategy> struct Sharded : R { using sharding = Strategy; };
template <class R, class Policy> struct Checkpointed : R { using checkpointing = Policy; };
template <class R> struct InFp64 : R { using precision = precision::Fp64; };
template <class R> struct InBf16Pure : R { using precision = precision::Bf16Pure; };
template <class R> struct ReducedInBf16 : R { using precision = precision::Bf16MixedReducingBf16; };

constexpr std::int64_t T = gpt2_like::model.context_length;
constexpr std::int64_t global_batch = 8, n_rows = 64;

/// Rows of ids, of which every one counts another number of targets.
struct Rows {
  std::vector<std::int32_t> inputs, targets;
  Rows() {
    std::mt19937 random(1);
    for (std::int64_t i = 0; i < n_rows * T; ++i) {
      inputs.push_back(static_cast<std::int32_t>(random() % 50));
      targets.push_back(i % T < i / T % 7 * 3 ? ignored_target : static_cast<std::int32_t>(random() % 50));
    }
  }
  train::MicroBatch from(std::int64_t row) const {
    return {inputs.data() + row * T, targets.data() + row * T, static_cast<std::uint64_t>(row)};
  }
};
const Rows rows;

/// What a run leaves, whatever ranks it had.
struct Outcome {
  std::vector<double> losses, norms;
  Tensors initial, gradients_at_1, gradients_at_10, parameters, moments;
};

/// Adds what a rank holds to tensors that are whole once all ranks have added theirs.
void add_parts(const std::vector<train::StateTensor>& parts, Tensors& whole) {
  for (const train::StateTensor& part : parts) {
    Values& values = whole[part.name];
    values.resize(part.shape.elements(), std::numeric_limits<double>::quiet_NaN());
    std::ranges::copy(values_of(part.view), values.begin() + part.first);
  }
}

/// @param in_tree gradients are added up in the fixed tree
template <Recipe R> Outcome train(int ranks, std::int64_t micro_batch, int steps, bool in_tree = false) {
  Outcome outcome;
  std::mutex mutex;
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::param_shards(ranks), R::precision::reduce_dtype);
    const std::int64_t n = global_batch / (micro_batch * ranks);
    train::Step<R> step(*communicator, micro_batch, 3, in_tree ? plan::tree_levels(n) : 0);
    train::StepReduction reduce(*communicator);
    const auto add_to = [&](Tensors& tensors, const std::vector<train::StateTensor>& parts) {
      const std::lock_guard lock(mutex);
      add_parts(parts, tensors);
    };
    add_to(outcome.initial, step.parameters());
    for (int i = 1; i <= steps; ++i) {
      train::StepPart own;
      for (std::int64_t j = 0; j < n; ++j) {
        const std::int64_t sample = (i - 1) * global_batch + (j * ranks + world.rank()) * micro_batch;
        own.add(step.accumulate(rows.from(sample % n_rows), i, {j, n}));
      }
      const train::StepTotals totals =
          reduce(own, step.gradient_size(train::GradientNorm::two), train::GradientNorm::two);
      if (world.rank() == 0) {
        outcome.losses.push_back(totals.loss / static_cast<double>(totals.tokens));
        outcome.norms.push_back(totals.gradient_norm);
      }
      if (i == 1) add_to(outcome.gradients_at_1, step.gradients());
      if (i == 10) add_to(outcome.gradients_at_10, step.gradients());
      step.update(adamw_step(i, 1 / totals.gradient_norm));
    }
    add_to(outcome.parameters, step.parameters());
    add_to(outcome.moments, step.moments());
  });
  return outcome;
}

template <Recipe R>
void check_equal_to_one_rank(int ranks, std::int64_t accumulation, double of_loss, double of_gradient) {
  CAPTURE(ranks, accumulation);
  const std::int64_t micro_batch = global_batch / (ranks * accumulation);
  const int steps = 12;
  const Outcome one = train<R>(1, global_batch, steps), many = train<R>(ranks, micro_batch, steps);
  CHECK(many.initial == one.initial);
  for (int i = 0; i < steps; ++i) {
    CAPTURE(i);
    CHECK(std::abs(many.losses[i] / one.losses[i] - 1) < of_loss);
    CHECK(std::abs(many.norms[i] / one.norms[i] - 1) < 10 * of_gradient);
  }
  const Difference first = worst_difference(many.gradients_at_1, one.gradients_at_1);
  CAPTURE(first.name);
  CHECK(first.error < of_gradient);
  CHECK(worst_difference(many.gradients_at_10, one.gradients_at_10).error < of_gradient);
}

bool same_bits(const Outcome& a, const Outcome& b) {
  return a.losses == b.losses && a.norms == b.norms && a.initial == b.initial && a.parameters == b.parameters &&
         a.moments == b.moments && a.gradients_at_1 == b.gradients_at_1;
}

}  // namespace

TEST_CASE("with the fixed tree, 1, 2 and 4 ranks give the same bits under every strategy") {
  const Outcome one = train<Sharded<gpt2_like, sharding::Replicate>>(1, 1, 6, true);
  CHECK(same_bits(train<Sharded<gpt2_like, sharding::Replicate>>(2, 1, 6, true), one));
  CHECK(same_bits(train<Sharded<gpt2_like, sharding::FullShard>>(1, 1, 6, true), one));
  CHECK(same_bits(train<Sharded<gpt2_like, sharding::FullShard>>(2, 1, 6, true), one));
  CHECK(same_bits(train<Sharded<gpt2_like, sharding::FullShard>>(4, 1, 6, true), one));
  CHECK(same_bits(train<Sharded<gpt2_like, sharding::HybridShard<2>>>(4, 1, 6, true), one));
  CHECK(same_bits(train<Sharded<gpt2_like, sharding::ShardGradOp>>(2, 1, 6, true), one));
  CHECK(same_bits(train<Sharded<gpt2_like, sharding::ReduceOncePerStep<sharding::FullShard>>>(2, 1, 6, true), one));
  // The other micro-batch is another tree, and its sums have other bits: what is compared above can differ.
  CHECK_FALSE(same_bits(train<Sharded<gpt2_like, sharding::Replicate>>(1, 2, 6, true), one));
}

TEST_CASE("parameters that are rounded at random have the same bits on every number of ranks") {
  using recipe = InBf16Pure<llama_like>;
  const Outcome one = train<Sharded<recipe, sharding::Replicate>>(1, 2, 6, true);
  CHECK(same_bits(train<Sharded<recipe, sharding::FullShard>>(2, 2, 6, true), one));
  CHECK(same_bits(train<Sharded<recipe, sharding::FullShard>>(4, 2, 6, true), one));
  CHECK(same_bits(train<Sharded<recipe, sharding::HybridShard<2>>>(4, 2, 6, true), one));
}

TEST_CASE("gradients that are rounded to bf16 between ranks are those of one rank but for that rounding") {
  using recipe = Sharded<ReducedInBf16<gpt2_like>, sharding::FullShard>;
  const Outcome one = train<recipe>(1, 4, 1), two = train<recipe>(2, 4, 1);
  const double error = worst_difference(two.gradients_at_1, one.gradients_at_1).error;
  CHECK(error < 0x1p-8);  // half a unit in the last place of each rank's part
  CHECK(error > 0);
}

TEST_CASE("every strategy gives one rank's losses and gradients: GPT-2") {
  check_equal_to_one_rank<Sharded<gpt2_like, sharding::Replicate>>(2, 1, 1e-6, 1e-5);
  check_equal_to_one_rank<Sharded<gpt2_like, sharding::ShardGradOp>>(2, 2, 1e-6, 1e-5);
  check_equal_to_one_rank<Sharded<gpt2_like, sharding::FullShard>>(4, 2, 1e-6, 1e-5);
  check_equal_to_one_rank<Sharded<gpt2_like, sharding::HybridShard<2>>>(4, 1, 1e-6, 1e-5);
}

TEST_CASE("every strategy gives one rank's losses and gradients: Llama, in fp64") {
  using llama = InFp64<llama_like>;
  check_equal_to_one_rank<Sharded<llama, sharding::FullShard>>(2, 4, 1e-10, 1e-10);
  check_equal_to_one_rank<Sharded<llama, sharding::HybridShardGradOp<2>>>(4, 2, 1e-10, 1e-10);
  check_equal_to_one_rank<Sharded<llama, sharding::ReduceOncePerStep<sharding::FullShard>>>(2, 2, 1e-10, 1e-10);
  check_equal_to_one_rank<Sharded<llama, sharding::Replicate>>(4, 2, 1e-10, 1e-10);
}

}  // namespace monomorph::testing
