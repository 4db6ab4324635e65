// Every objective gives on several ranks what it gives on one, under every sharding strategy: to the same bits in the
// fixed tree where a sample's loss is its own, and but for rounding in fp64 where samples of all ranks are compared.
#include "distributed/encoder_like.hpp"
#include "distributed/ranked_axes.hpp"
#include "distributed/ranked_training.hpp"
#include "numerics/schedule_recipes.hpp"
#include "numerics/teacher.hpp"
#include "support/catch.hpp"
#include "support/training_program.hpp"

#include <monomorph/core/type_name.hpp>

namespace monomorph::testing {
namespace {

/// The model computes forward again in backward, which must not change what is drawn or counted.
template <class Strategy> struct Next : Shrunk<1> {
  using sharding = Strategy;
  using checkpointing = monomorph::checkpointing::EveryBlock;
};
template <class Strategy> struct Masked : Next<Strategy> {
  using attention = monomorph::attention::Bidirectional;
  using objective = monomorph::objective::MaskedTokens<49>;
};
template <class Strategy> struct Pairs : encoder_like {
  static constexpr EncoderSpec model{
      .vocab_size = 50, .n_layers = 2, .n_heads = 4, .d_model = 16, .context_length = 8, .d_embedding = 8};
  using sharding = Strategy;
  using precision = monomorph::precision::Fp64;
  using checkpointing = monomorph::checkpointing::EveryBlock;
};

template <class Strategy> struct Preferences : Shrunk<1> {
  using sharding = Strategy;
  using checkpointing = monomorph::checkpointing::RecomputeCheap;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Causal>;
  using objective = monomorph::objective::Preferences;
};
template <class Strategy> struct PreferencesOfAdapters : Preferences<Strategy> {
  using finetuning = monomorph::finetuning::LowRank<LowRankSpec{.rank = 2, .alpha = 4, .dropout = 0.1}>;
};

/// As the model of the ranked recipes, with one more block.
struct TeacherOfRanked {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = Shrunk<1>::model;
    model.n_layers = model.n_layers + 1;
    return model;
  }();
};
template <class Strategy> struct Taught : Next<Strategy> {
  using objective = monomorph::objective::Distillation<TeacherOfRanked>;
};
template <class Strategy> struct TaughtInBf16 : Taught<Strategy> { using precision = monomorph::precision::Bf16Mixed; };

/// A training of the recipe that an objective makes with a strategy, on a number of ranks.
template <template <class Strategy> class RecipeOf, class Change> class Trainings {
 public:
  explicit Trainings(Change change) : change_(change) {}

  /// With eight samples a step, of which a micro-batch of all ranks has `together`.
  template <class Strategy> Outcome on(int ranks, std::int64_t together, bool in_tree) const {
    train::RecipeProgram program = training_program<RecipeOf<Strategy>>();
    change_(program.hparams.objective);
    return train(program, {ranks, 8 / together, in_tree}, {.steps = 4});
  }
  Outcome on_one(std::int64_t together, bool in_tree) const { return on<sharding::Replicate>(1, together, in_tree); }

  /// Calls check(outcome) for every strategy.
  void each(std::int64_t together_per_rank, std::int64_t together, bool in_tree, auto check) const {
    each_strategy([&]<class Strategy>(int ranks) {
      check(on<Strategy>(ranks, together > 0 ? together : ranks * together_per_rank, in_tree));
    });
  }

 private:
  Change change_;
};
template <template <class Strategy> class RecipeOf, class Change> auto trainings(Change change) {
  return Trainings<RecipeOf, Change>(change);
}

/// One sample is a micro-batch of a rank.
void check_bits(const auto& training) {
  const Outcome one = training.on_one(1, true);
  training.each(1, 0, true, [&](const Outcome& several) { CHECK(same_bits(several, one)); });
}

constexpr auto plain = [](PolicyHparams&) {};

void smooth(objective::NextTokenHparams& hparams) {
  hparams.label_smoothing.value = 0.1;
  hparams.z_loss.value = 1e-2;
}

}  // namespace

TEST_CASE("next tokens with label smoothing and z-loss give the bits of one rank on 2 and 4") {
  const auto smoothed =
      trainings<Next>([](PolicyHparams& hparams) { smooth(hparams.as<objective::NextTokenHparams>()); });
  check_bits(smoothed);
  CHECK_FALSE(same_bits(smoothed.on_one(1, true), trainings<Next>(plain).on_one(1, true)));
}

TEST_CASE("masked tokens with label smoothing and z-loss give the bits of one rank on 2 and 4") {
  const auto masked = [](double fraction) {
    return trainings<Masked>([fraction](PolicyHparams& hparams) {
      auto& own = hparams.as<objective::MaskedTokensHparams>();
      smooth(own);
      own.mask_fraction.value = fraction;
    });
  };
  check_bits(masked(0.3));
  CHECK_FALSE(same_bits(masked(0.3).on_one(1, true), masked(0.4).on_one(1, true)));
}

TEST_CASE("pairs are compared with those of all ranks, so that 2 and 4 ranks give what one gives") {
  const auto compared = trainings<Pairs>(plain);
  for (const std::int64_t together : {8, 4}) {  // in one micro-batch, and in two
    const Outcome one = compared.on_one(together, false);
    compared.each(0, together, false, [&](const Outcome& several) {
      CHECK(worst_difference(several.losses, one.losses) < 1e-12);
      CHECK(worst_difference(several.norms, one.norms) < 1e-11);
      CHECK(worst_difference(several.gradients.at(1), one.gradients.at(1)).error < 1e-11);
      CHECK(worst_difference(several.parameters, one.parameters).error < 1e-9);
    });
  }
  // With half as many others to tell a text from the loss is another one.
  CHECK(worst_difference(compared.on_one(8, false).losses, compared.on_one(4, false).losses) > 0.1);
}

TEST_CASE("preferences give the bits of one rank on 2 and 4, of all parameters and of adapters") {
  check_bits(trainings<Preferences>(plain));
  check_bits(trainings<PreferencesOfAdapters>(plain));
}

TEST_CASE("students give the bits of one rank on 2 and 4, whose teacher is divided among them") {
  const auto taught = trainings<Taught>(plain);
  check_bits(taught);
  check_bits(trainings<TaughtInBf16>(plain));
  CHECK_FALSE(same_bits(taught.on_one(1, true), trainings<Next>(plain).on_one(1, true)));
}

}  // namespace monomorph::testing
