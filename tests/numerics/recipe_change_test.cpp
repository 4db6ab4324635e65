// A run goes on from the checkpoint of a recipe that only divides the work in another way, to the same bits.
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"
#include "support/tensors.hpp"
#include "support/training_program.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

namespace monomorph::testing {
namespace {

using Base = gpt2_like;
struct Replicated : Base {
  using sharding = monomorph::sharding::Replicate;
};
struct Recomputing : Base {
  using checkpointing = monomorph::checkpointing::EveryBlock;
};
struct Budgeted : Base {
  static constexpr Budget budget{.ranks = 1, .bytes_per_rank = gib(1), .micro_batch = 2};
};
struct MixedBf16 : Base {
  using precision = monomorph::precision::Bf16Mixed;
};
struct MixedFp16 : Base {
  using precision = monomorph::precision::Fp16Mixed;
};
struct PureBf16 : Base {
  using precision = monomorph::precision::Bf16Pure;
};
struct Wider : Base {
  static constexpr DecoderSpec model = [] {
    DecoderSpec wider = Base::model;
    wider.d_ff = 160;
    return wider;
  }();
};

constexpr std::int64_t micro_batch = 2;

/// A step of a recipe, and the run that it is in.
class Run {
 public:
  explicit Run(train::RecipeProgram recipe) : recipe_(std::move(recipe)) {
    hparams_.optimizer.policy.as<optim::AdamW::Hparams>().lr.value = 0.01;
  }

  void train(int n_steps) {
    for (int i = 0; i < n_steps; ++i, ++state_.step) {
      const auto step = static_cast<std::uint64_t>(state_.step);
      const std::int64_t first = 2 * (state_.step % 2), T = recipe_.model->context_length;
      step_->accumulate(sequences.from(first, T), step, {});
      const train::Ticket ticket = step_->decide({});
      step_->update(hparams_.optimizer.policy, {});
      REQUIRE(step_->read(ticket).applied);
      state_.updates = step_->scalars().updates;
      state_.samples += micro_batch;
    }
  }
  void save(const std::string& folder) {
    train::save_run(folder, {}, recipe_, hparams_, state_, {}, *step_, *communicator_);
  }
  void restore(const std::string& folder) {
    const train::RestoredRun restored = train::restore_run(train::find_checkpoint(folder), recipe_, *step_, true);
    state_ = restored.state;
    step_->change_scalars([&](StepScalars& scalars) { scalars.updates = state_.updates; });
    same_precision = restored.same_precision;
  }
  bool same_precision = true;
  std::uint64_t state() const { return hash_of(step_->parameters()) ^ 3 * hash_of(step_->optimizer_state()); }

 private:
  train::RecipeProgram recipe_;
  train::Hparams hparams_;
  std::unique_ptr<Communicator> communicator_ = one_rank();
  Owned<train::TrainingStep> step_ = recipe_.make_step(*communicator_, micro_batch, 3, 0, recipe_.hparams.objective);
  train::RunState state_;
};

/// Two steps, saved by `from`; restored by `to`, and two steps more.
void check_change(const train::RecipeProgram& from, const train::RecipeProgram& to, std::uint64_t expected) {
  const TemporaryFolder folder;
  Run before(from), after(to);
  before.train(2);
  before.save(folder.path());
  after.restore(folder.path());
  CHECK(after.state() == before.state());
  after.train(2);
  CHECK(after.state() == expected);
}

}  // namespace

TEST_CASE("a run goes on with another sharding, checkpointing or budget, to the same bits") {
  const auto base = training_program<Base>();
  Run uninterrupted(base);
  uninterrupted.train(4);
  const std::uint64_t expected = uninterrupted.state();
  for (const train::RecipeProgram& other :
       {training_program<Replicated>(), training_program<Recomputing>(), training_program<Budgeted>()}) {
    CAPTURE(other.name);
    CHECK(other.fingerprint != base.fingerprint);
    check_change(base, other, expected);
    check_change(other, base, expected);
  }
}

TEST_CASE("a run goes on with another precision that keeps the same state, and all its bits are loaded") {
  const auto base = training_program<Base>();
  for (const train::RecipeProgram& other : {training_program<MixedBf16>(), training_program<MixedFp16>()}) {
    CAPTURE(other.name);
    for (const auto& [from, to] : {std::pair(base, other), std::pair(other, base)}) {
      const TemporaryFolder folder;
      Run before(from), after(to), same(from);
      before.train(2);
      before.save(folder.path());
      after.restore(folder.path());
      CHECK(after.state() == before.state());
      CHECK_FALSE(after.same_precision);
      same.restore(folder.path());
      CHECK(same.same_precision);
      before.train(1);
      after.train(1);
      CHECK(after.state() != before.state());  // it computes in its own precision
    }
  }
}

TEST_CASE("a run does not go on with parameters of another dtype, which is named") {
  const TemporaryFolder folder;
  Run saved(training_program<Base>()), pure(training_program<PureBf16>());
  saved.save(folder.path());
  const std::string message = error_of([&] { pure.restore(folder.path()); });
  CHECK(contains(message, "[RUN-04]"));
  CHECK(contains(message, ": state_dtype: fp32 there, bf16 here; use"));
}

TEST_CASE("a run does not go on with another model, and the field that differs is named") {
  const TemporaryFolder folder;
  Run saved(training_program<Base>()), wider(training_program<Wider>());
  saved.save(folder.path());
  const std::string message = error_of([&] { wider.restore(folder.path()); });
  CHECK(contains(message, "[RUN-04]"));
  CHECK(contains(message, ": model.d_ff: 128 there, 160 here; use"));
}

}  // namespace monomorph::testing
