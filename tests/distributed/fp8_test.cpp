// Products in fp8 on several ranks: the greatest magnitudes are those of all ranks.
#include "distributed/ranked_training.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/plain_rotary.hpp"
#include "support/ranks.hpp"
#include "support/temporary_folder.hpp"
#include "support/training_program.hpp"

#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/runtime/files/checkpoint_reader.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <map>
#include <string>

namespace monomorph::testing {
namespace {

template <class Strategy> struct InFp8 : Sharded<llama_like, Strategy> {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = llama_like::model;
    model.context_length = 32, model.n_layers = 2;
    return model;
  }();
  using precision = monomorph::precision::Fp8Mixed;
};

template <class Strategy> struct Plain : PlainRotary<InFp8<Strategy>> {};

/// Of which adapters alone are trained, beside a base in NF4.
template <class Strategy> struct Adapted : InFp8<Strategy> {
  using finetuning = finetuning::Nf4Base<finetuning::LowRank<
      LowRankSpec{.rank = 3, .alpha = 6, .dropout = 0.1, .targets = {.output = true, .gate = true, .down = true}}>>;
};

template <Recipe R> Outcome train_six_steps(int ranks) {
  auto program = training_program<R>();
  return train(program, {ranks, 4 / ranks, true}, {.steps = 6});
}

constexpr std::int64_t micro_batches = 4;  ///< of a step, on all ranks together

/// A training on some ranks, in the fixed tree, which goes on from the checkpoint in a folder, if there is one, up to
/// a step, and is saved there.
template <Recipe R> void train_to(std::int64_t last_step, int ranks, const std::string& folder) {
  static constexpr std::int64_t T = R::model.context_length;
  static const Sequences of_context(micro_batches, T, 50);
  with_ranks(ranks, [&](const World& world) {
    const auto recipe = training_program<R>();
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), R::precision::reduce_dtype);
    const std::int64_t own = micro_batches / ranks;
    train::Step<R> step(*communicator, 1, 3, plan::tree_levels(own));
    train::RunState state;
    if (const auto saved = runtime::latest_checkpoint(folder))
      state = together(*communicator, "restore", [&] { return train::restore_run(*saved, recipe, step, true).state; });
    step.change_scalars([&](StepScalars& scalars) { scalars.updates = state.updates; });
    while (state.step < last_step) {
      const auto number = static_cast<std::uint64_t>(++state.step);
      for (std::int64_t i = 0; i < own; ++i)
        step.accumulate(of_context.from(i * ranks + world.rank(), T), number, {.index = i, .count = own});
      if (!step.read(step.decide({})).applied) throw std::logic_error("a step was not applied");
      step.update(adamw_hparams(), {});
      ++state.updates;
      state.samples += micro_batches, state.tokens += micro_batches * T;
    }
    (void)train::save_run(folder, {.latest = 2}, recipe, {}, state, {}, step, *communicator);
  });
}

/// All tensors of the checkpoint of a step.
std::map<std::string, std::string> tensors_of(const std::string& checkpoint) {
  std::map<std::string, std::string> tensors;
  runtime::CheckpointReader reader(checkpoint);
  for (const std::string& name : reader.names()) {
    const auto& tensor = *reader.find(name);
    std::string& bytes = tensors[name];
    bytes.resize(static_cast<std::size_t>(tensor.n_elements) * size_of(DType::fp32));
    reader.read(name, 0, std::as_writable_bytes(std::span(bytes)));
  }
  return tensors;
}

struct Resumed {
  void (*first)(std::int64_t last_step, int ranks, const std::string& folder);
  int first_ranks;
  void (*second)(std::int64_t last_step, int ranks, const std::string& folder);
  int second_ranks;
};

template <template <class Strategy> class R> void check_ranks() {
  const Outcome one = train_six_steps<R<sharding::Replicate>>(1);
  CHECK(one.parameters.at("layers.1.mlp.amax_history") != one.initial.at("layers.1.mlp.amax_history"));
  CHECK(same_bits(train_six_steps<R<sharding::Replicate>>(2), one));
  CHECK(same_bits(train_six_steps<R<sharding::ShardOptimizer>>(4), one));
  CHECK(same_bits(train_six_steps<R<sharding::FullShard>>(2), one));
  CHECK(same_bits(train_six_steps<R<sharding::HybridShard<2>>>(4), one));
}

}  // namespace

TEST_CASE("a run in fp8 goes on from its checkpoint on any number of ranks, in the bits of one that was not stopped") {
  using Replicated = InFp8<sharding::Replicate>;
  using Full = InFp8<sharding::FullShard>;
  using GradOp = InFp8<sharding::ShardGradOp>;
  const TemporaryFolder whole;
  train_to<Replicated>(6, 1, whole.path());
  const auto expected = tensors_of(whole / "step_00000006");
  const std::string history = "layers.1.attention.amax_history";
  REQUIRE(expected.contains(history));
  for (const auto& [first, first_ranks, second, second_ranks] :
       {Resumed{train_to<Full>, 2, train_to<GradOp>, 4}, Resumed{train_to<Full>, 4, train_to<Replicated>, 1},
        Resumed{train_to<Replicated>, 1, train_to<Full>, 2}, Resumed{train_to<GradOp>, 2, train_to<GradOp>, 2}}) {
    CAPTURE(first_ranks, second_ranks);
    const TemporaryFolder folder;
    first(3, first_ranks, folder.path());
    CHECK(tensors_of(folder / "step_00000003").at(history) != expected.at(history));
    second(6, second_ranks, folder.path());
    CHECK(tensors_of(folder / "step_00000006") == expected);
  }
}

TEST_CASE("products in fp8 have the same bits on 1, 2 and 4 ranks, and so has the history of their maxima") {
  check_ranks<InFp8>();
  check_ranks<Plain>();
}

TEST_CASE("so have adapters beside products in fp8 whose weights are kept in NF4") { check_ranks<Adapted>(); }

}  // namespace monomorph::testing
