// Every optimiser gives the bits of one rank on several, and changes what it is for.
#include "distributed/ranked_axes.hpp"
#include "distributed/ranked_training.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/catch.hpp"
#include "support/training_program.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/optim/averaged.hpp>
#include <monomorph/optim/bf16_state.hpp>
#include <monomorph/optim/by_class.hpp>
#include <monomorph/optim/host_state.hpp>
#include <monomorph/optim/lion.hpp>
#include <monomorph/optim/sgd.hpp>

namespace monomorph::testing {
namespace {

using Muon = optim::ByClass<optim::Muon, optim::AdamW>;

template <class Optimizer, class Strategy> struct Trained : Shrunk<1> {
  using optimizer = Optimizer;
  using sharding = Strategy;
};

/// In the fixed tree, with eight sequences a step.
template <class Optimizer, class Strategy> Outcome trained(int ranks, int steps = 4) {
  return train(training_program<Trained<Optimizer, Strategy>>(), {ranks, 8 / ranks, true}, {.steps = steps});
}

template <class Optimizer> void check_bits() {
  CAPTURE(monomorph::type_name<Optimizer>());
  const Outcome one = trained<Optimizer, sharding::Replicate>(1);
  each_strategy([&]<class Strategy>(int ranks) { CHECK(same_bits(trained<Optimizer, Strategy>(ranks), one)); });
  CHECK_FALSE(same_bits(trained<optim::AdamW, sharding::Replicate>(1), one));
}
/// Under some strategies, of an optimiser that another one stands for under all: those that update single elements do
/// so in the runs of a shard alike.
template <class Optimizer, class... Strategies> void check_bits_under() {
  CAPTURE(monomorph::type_name<Optimizer>());
  const Outcome one = trained<Optimizer, sharding::Replicate>(1);
  const auto check = [&]<class Strategy>(std::type_identity<Strategy>) {
    CAPTURE(monomorph::type_name<Strategy>());
    CHECK(same_bits(trained<Optimizer, Strategy>(4), one));
  };
  (check(std::type_identity<Strategies>{}), ...);
  CHECK_FALSE(same_bits(trained<optim::AdamW, sharding::Replicate>(1), one));
}

/// What is there of those tensors whose names contain `part`, but for the others.
Tensors named(const Tensors& tensors, const std::string& part, bool contained) {
  Tensors found;
  for (const auto& [name, values] : tensors)
    if (name.find(part) != std::string::npos == contained) found[name] = values;
  return found;
}

/// The tensors whose names begin with the average's, by the names of their parameters.
Tensors averages(const Tensors& moments) {
  Tensors found;
  const std::string beginning = std::string(average_buffer) + ".";
  for (const auto& [name, values] : moments)
    if (name.starts_with(beginning)) found[name.substr(beginning.size())] = values;
  return found;
}

}  // namespace

TEST_CASE("Sgd gives the same bits on 1 and 4 ranks") {
  check_bits_under<optim::Sgd, sharding::ShardOptimizer, sharding::FullShard, sharding::HybridShard<2>>();
}
TEST_CASE("Lion gives the same bits on 1 and 4 ranks") {
  check_bits_under<optim::Lion, sharding::ShardGradOp, sharding::HybridShardGradOp<2>,
                   sharding::ReduceOncePerStep<sharding::FullShard>>();
}
TEST_CASE("state in bf16 gives the same bits on 1, 2 and 4 ranks under every strategy") {
  check_bits<optim::Bf16State<optim::AdamW>>();
}
TEST_CASE("Muon, which sees whole matrices, gives the same bits on 1, 2 and 4 ranks under every strategy") {
  check_bits<Muon>();
  check_bits_under<optim::ByClass<optim::Bf16Muon, optim::AdamW>, sharding::ShardOptimizer, sharding::FullShard>();
}

namespace {

constexpr DecoderSpec of_six_blocks(DecoderSpec model) {
  model.n_layers = 6;
  return model;
}
/// More rounds than there are places for whole units.
template <class Optimizer, class Strategy> struct Deep : Trained<Optimizer, Strategy> {
  static constexpr DecoderSpec model = of_six_blocks(Trained<Optimizer, Strategy>::model);
};
/// Units that are transformed and others, in turn.
struct OddBlocks {
  static constexpr bool trains(UnitKind kind, int block) { return kind != UnitKind::block || block % 2 == 1; }
};
template <class Optimizer, class Strategy> struct Frozen : Deep<Optimizer, Strategy> { using finetuning = OddBlocks; };
/// Of most blocks the norms alone, so that units that are transformed lie among others that are trained.
struct NormsOfMost : finetuning::All {
  static constexpr bool trains_parameter(std::string_view name, ParameterClass of) {
    return of == ParameterClass::norm || name.find("layers.1.") != name.npos || name.find("layers.4.") != name.npos;
  }
};
template <class Optimizer, class Strategy> struct NormsAlone : Deep<Optimizer, Strategy> {
  using finetuning = NormsOfMost;
};

template <class R> Outcome of_rounds(int ranks) {
  return train(training_program<R>(), {ranks, 8 / ranks, true}, {.steps = 3});
}
/// On two ranks, which take turns or, where state is on the host, transform all.
template <template <class, class> class R> void check_among_others() {
  const Outcome one = of_rounds<R<Muon, sharding::Replicate>>(1);
  CHECK(same_bits(of_rounds<R<Muon, sharding::FullShard>>(2), one));
  CHECK(same_bits(of_rounds<R<optim::HostState<Muon>, sharding::FullShard>>(2), one));
}

}  // namespace

TEST_CASE("matrices that are transformed in more rounds than there are places have the same bits on several ranks") {
  const Outcome one = of_rounds<Deep<Muon, sharding::Replicate>>(1);
  CHECK(same_bits(of_rounds<Deep<Muon, sharding::ShardOptimizer>>(2), one));
  CHECK(same_bits(of_rounds<Deep<Muon, sharding::FullShard>>(2), one));
  CHECK(same_bits(of_rounds<Deep<Muon, sharding::FullShard>>(4), one));
}
TEST_CASE("matrices of units among which others are frozen have the same bits on several ranks, and on the host") {
  check_among_others<Frozen>();
}
TEST_CASE(
    "matrices of units among which others train norms alone have the same bits on several ranks, and on the host") {
  check_among_others<NormsAlone>();
}

TEST_CASE("a moving average leaves what is trained alone, and gives the same bits on 1 and 4 ranks") {
  using Averaged = optim::Averaged<Muon>;
  check_bits_under<Averaged, sharding::ShardOptimizer, sharding::FullShard>();
  check_bits_under<optim::HostState<Averaged>, sharding::ShardGradOp, sharding::FullShard, sharding::HybridShard<2>>();
  const Outcome averaged = trained<Averaged, sharding::Replicate>(1), plain = trained<Muon, sharding::Replicate>(1);
  CHECK(averaged.parameters == plain.parameters);
  // Of so few updates each counts alike: a quarter each.
  Tensors sums = trained<Averaged, sharding::Replicate>(1, 1).parameters;
  for (int steps = 2; steps <= 4; ++steps)
    for (const auto& [name, values] : trained<Averaged, sharding::Replicate>(1, steps).parameters)
      for (std::size_t i = 0; i < values.size(); ++i) sums[name][i] += values[i];
  for (auto& [name, values] : sums)
    for (double& value : values) value /= 4;
  CHECK(worst_difference(averages(averaged.moments), sums).error < 1e-6);
}

TEST_CASE("ByClass gives matrices of blocks to one optimiser, and all else to the other") {
  const Outcome muon = trained<Muon, sharding::Replicate>(1, 1),
                adamw = trained<optim::AdamW, sharding::Replicate>(1, 1);
  const auto in_blocks = [](const Tensors& all) { return named(named(all, "layers.", true), "norm", false); };
  CHECK(named(muon.parameters, "layers.", false) == named(adamw.parameters, "layers.", false));
  CHECK(named(muon.parameters, "norm", true) == named(adamw.parameters, "norm", true));
  const Tensors matrices = in_blocks(muon.parameters), by_adamw = in_blocks(adamw.parameters);
  REQUIRE(matrices.size() == by_adamw.size());
  for (const auto& [name, values] : matrices) {
    INFO(name);
    CHECK(values != by_adamw.at(name));
  }
  CHECK(named(muon.moments, "momentum.layers.", true).size() == matrices.size());
  CHECK(named(muon.moments, "moment1.", true).size() == muon.parameters.size() - matrices.size());
}

}  // namespace monomorph::testing
