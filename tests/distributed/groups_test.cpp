// Data-parallel groups that are a part of the world train as if each were a world of its own.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/ranks.hpp"
#include "support/tensors.hpp"

#include <array>

namespace monomorph::testing {
namespace {

/// What three steps leave of this rank's parameters. A group's number shifts its data.
std::uint64_t trained(Communicator& communicator, int group) {
  train::Step<llama_like> step(communicator, 1, 3);
  for (int number = 1; number <= 3; ++number) {
    const std::int64_t sequence = (communicator.rank() + 2 * group + number) % 4;
    step.accumulate(sequences.from(sequence, llama_like::model.context_length), static_cast<std::uint64_t>(number), {});
    step.read(step.decide({.max_norm = 1}));
    step.update(adamw_hparams(), {});
  }
  return hash_of(step.parameters());
}

}  // namespace

TEST_CASE("two groups of two ranks in a world of four train as two worlds of two do") {
  std::array<std::array<std::uint64_t, 2>, 2> in_groups{}, in_worlds{};  // by group, by rank in it
  with_ranks(4, [&](const World& world) {
    const ParallelGroups groups = world.groups({.tp = 2});
    const auto communicator = world.communicator(groups.data, 2, DType::fp32);
    const int group = groups.tensor.rank_in_group;
    in_groups[group][communicator->rank()] = trained(*communicator, group);
  });
  for (const int group : {0, 1})
    with_ranks(2, [&](const World& world) {
      const auto communicator = world.communicator(2, DType::fp32);
      in_worlds[group][world.rank()] = trained(*communicator, group);
    });
  CHECK(in_groups == in_worlds);
  CHECK(in_groups[0] != in_groups[1]);
}

}  // namespace monomorph::testing
