// What a run makes of teacher.from: weights that the teacher can't have, and whether it is the one that the run has
// learnt from.
#include "train/run/weights/teacher_weights.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/objective/distillation.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include "fixtures/weights/recipes/gpt2.hpp"
#include "support/training_program.hpp"

namespace monomorph::testing {
namespace {

/// Learns from the fixture `gpt2`, over so many tokens.
template <int context> struct taught : recipes::gpt2 {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = recipes::gpt2::model;
    model.n_layers = 1;
    model.context_length = context;
    return model;
  }();
  using objective = monomorph::objective::Distillation<recipes::gpt2>;
};
constexpr int of_teacher = recipes::gpt2::model.context_length;

train::Hparams from_fixture(const train::RecipeProgram& recipe) {
  train::Hparams hparams = train::default_hparams(recipe.hparams);
  hparams.teacher.from.value = MONOMORPH_SOURCE_DIR "/tests/fixtures/weights/gpt2";
  return hparams;
}

/// What a run says of its teacher, when it begins, or is gone on with from a state that knows of so much.
template <Recipe R> std::vector<std::string> said_of_teacher(train::RunState& state, bool is_resumed) {
  const train::RecipeProgram recipe = training_program<R>();
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 1, 1);
  step.take_teacher();
  return train::load_teacher(recipe, from_fixture(recipe), step, *communicator, state, is_resumed);
}
bool has(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return contains(line, part); });
}

}  // namespace

TEST_CASE("a teacher with fewer learned positions than its student is refused, with what to do about teachers") {
  const train::RecipeProgram recipe = training_program<taught<2 * of_teacher>>();
  const std::string refused = error_of([&] { train::check_teacher(recipe, from_fixture(recipe)); });
  CAPTURE(refused);
  CHECK(refused.starts_with("[WEIGHTS-09]"));
  CHECK(contains(refused, "position_embedding.weight is [16, 32] and must be [32, 32]"));
  CHECK(contains(refused, "give weights of the model that the objective's teacher says (teacher.from)"));
  CHECK_FALSE(contains(refused, "weights.positions"));  // which are the student's alone
  CHECK_FALSE(contains(refused, "weights.vocabulary"));
}

TEST_CASE("a teacher with more learned positions is asked with the first ones") {
  const train::RecipeProgram recipe = training_program<taught<of_teacher / 2>>();
  const std::vector<std::string> notes = train::check_teacher(recipe, from_fixture(recipe));
  CHECK(has(notes, "model.context_length"));
  train::RunState state;
  CHECK(has(said_of_teacher<taught<of_teacher / 2>>(state, false), "teacher from "));
  CHECK(state.teacher != 0);
}

TEST_CASE("a run knows its teacher again, and says when nobody can know") {
  using R = taught<of_teacher>;
  train::RunState state;
  CHECK_FALSE(has(said_of_teacher<R>(state, false), "TEACHER-04"));
  const std::int64_t known = state.teacher;
  CHECK(known != 0);
  CHECK_FALSE(has(said_of_teacher<R>(state, true), "TEACHER-04"));
  CHECK(state.teacher == known);

  state.teacher = 0;  // as after a change of the precision
  CHECK(has(said_of_teacher<R>(state, true),
            "warning: [TEACHER-04] the recipe's precision is another one than when the checkpoint was saved"));
  CHECK(state.teacher == known);  // from here on it is known again

  state.teacher = known + 1;
  CHECK(error_of([&] { said_of_teacher<R>(state, true); }).starts_with("[TEACHER-03]"));
}

}  // namespace monomorph::testing
