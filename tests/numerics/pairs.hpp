#pragma once
#include <monomorph/core/type_name.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/step.hpp>

#include "numerics/pair_samples.hpp"
#include "numerics/perturb.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/ranks.hpp"
#include "support/reference_model.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

/// Models that are trained on pairs of texts, on one rank and on several.
namespace monomorph::testing {

inline ReferenceBatch reference_of(const Pairs& pairs) {
  return {.ids = pairs.inputs,
          .targets = pairs.targets,
          .document_starts = pairs.starts,
          .sees = [](int, std::int64_t, std::int64_t) { return true; }};
}

inline void check_gradients(const Tensors& actual, const Tensors& expected, double tolerance) {
  const Difference worst = worst_difference(actual, expected);
  INFO(worst.name);
  CHECK(worst.error < tolerance);
}
inline void check_close(double actual, double expected, double tolerance = 1e-10) {
  CHECK(std::abs(actual - expected) <= tolerance * std::abs(expected));
}

template <class R> using HparamsOf = typename objective_of<R>::Hparams;

/// The gradients of a step of so many pairs, divided among ranks and micro-batches: whole tensors.
struct Outcome {
  double loss = 0;
  std::int64_t pairs = 0;
  Tensors gradients;
};
template <Recipe R>
Outcome trained(int ranks, const Pairs& pairs, std::int64_t micro_batches, const HparamsOf<R>& loss,
                double loss_scale = 1) {
  const std::int64_t B = pairs.count() / (ranks * micro_batches);
  Outcome outcome;
  std::mutex mutex;
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), R::precision::reduce_dtype);
    train::Step<R> step(*communicator, B, 3, 0, loss);
    set_loss_scale(step, loss_scale);
    LossSum sum;
    for (std::int64_t i = 0; i < micro_batches; ++i)
      sum.add(accumulate(step, pairs.from((i * ranks + world.rank()) * B), 1, {i, micro_batches}));
    gradient_norm(step);
    const std::lock_guard lock(mutex);
    outcome.loss += sum.loss;
    outcome.pairs += sum.tokens;
    for (const train::StateTensor& part : step.gradients()) {
      Values& values = outcome.gradients[part.name];
      values.resize(static_cast<std::size_t>(part.shape.elements()));
      std::ranges::copy(values_of(part.view), values.begin() + part.first);
    }
  });
  return outcome;
}

/// A step of one micro-batch of all pairs is the same on any number of ranks.
template <class R> void check_ranks(const HparamsOf<R>& loss, double tolerance) {
  const Pairs pairs(24);
  const Outcome one = trained<R>(1, pairs, 1, loss);
  const auto check = [&]<class Strategy>(Strategy, int ranks) {
    CAPTURE(ranks, monomorph::type_name<Strategy>());
    const Outcome several = trained<Sharded<R, Strategy>>(ranks, pairs, 1, loss);
    CHECK(several.pairs == one.pairs);
    check_close(several.loss, one.loss, tolerance);
    check_gradients(several.gradients, one.gradients, tolerance);
  };
  check(sharding::Replicate{}, 2);
  check(sharding::Replicate{}, 3);
  check(sharding::ShardOptimizer{}, 2);
  check(sharding::FullShard{}, 2);
  check(sharding::FullShard{}, 4);
  check(sharding::HybridShard<2>{}, 4);
}

}  // namespace monomorph::testing
