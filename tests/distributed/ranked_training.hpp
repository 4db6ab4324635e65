#pragma once
#include "support/tensors.hpp"

#include "support/catch.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/run.hpp>
#include <monomorph/train/describe/recipe_program.hpp>

#include <map>

/// The same training on any number of ranks, which are threads that exchange messages as processes do.
namespace monomorph::testing {

/// How a training is divided.
struct Division {
  int ranks = 1;
  std::int64_t accumulation = 1;
  bool in_tree = false;  ///< gradients are added up in the fixed tree
};

/// How much of it there is.
struct Extent {
  int steps = 1;
  std::int64_t samples_per_step = 8;
  std::vector<int> gradients_at = {1};  ///< steps
  double loss_scale = 1;                ///< that backward computes with
};

/// What a training leaves, whatever ranks it had: whole tensors.
struct Outcome {
  std::vector<double> losses, norms;     ///< by step; of the mean over its tokens
  std::map<int, Tensors> gradients;      ///< by step, of the sum over its tokens
  Tensors initial, parameters, moments;  ///< with the bytes of parameters that are kept in NF4
};

/// @throws std::logic_error if ranks that hold the same elements of a tensor differ in a bit of them
Outcome train(const train::RecipeProgram& recipe, Division division, const Extent& extent);

/// In all that an outcome has.
bool same_bits(const Outcome& a, const Outcome& b);

/// The greatest relative difference of the losses, or norms, of two outcomes.
double worst_difference(const std::vector<double>& actual, const std::vector<double>& expected);

/// Calls check.operator()<Strategy>(ranks) for every sharding strategy, on each number of ranks up to 4 that it
/// divides.
void each_strategy(const auto& check) {
  const auto on = [&]<class Strategy>(std::type_identity<Strategy>, auto... ranks) {
    const auto on_ranks = [&](int n) {
      INFO(type_name<Strategy>() << " on " << n << " ranks");
      check.template operator()<Strategy>(n);
    };
    (on_ranks(ranks), ...);
  };
  on(std::type_identity<sharding::Replicate>{}, 2, 4);
  on(std::type_identity<sharding::ShardOptimizer>{}, 2, 4);
  on(std::type_identity<sharding::ShardGradOp>{}, 2, 4);
  on(std::type_identity<sharding::FullShard>{}, 2, 4);
  on(std::type_identity<sharding::HybridShard<2>>{}, 4);
  on(std::type_identity<sharding::HybridShardGradOp<2>>{}, 4);
  on(std::type_identity<sharding::ReduceOncePerStep<sharding::FullShard>>{}, 2, 4);
}

}  // namespace monomorph::testing
