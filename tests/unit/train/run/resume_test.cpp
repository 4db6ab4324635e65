#include "train/run/resume.hpp"

#include "train/run/resumed_state.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/recorded_step.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/models/gpt2.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <filesystem>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

RecipeProgram recipe_with(const std::string& sharding) {
  RecipeProgram recipe;
  recipe.name = "recorded";
  recipe.model = &models::gpt2_124m;
  recipe.policies = {{"sharding", sharding, false}};
  recipe.memory = [](int, std::int64_t, int) { return plan::Memory{}; };
  recipe.planned.strategy = [](int) { return plan::Strategy{}; };
  recipe.planned.memory = [](const plan::Strategy&, int, std::int64_t, int) { return plan::Memory{}; };
  recipe.flops = [](std::int64_t, int) { return plan::FlopsPerToken{}; };
  return recipe;
}

/// A run folder in which a run has begun.
class BegunRun {
 public:
  BegunRun() {
    std::filesystem::create_directory(path());
    write_bytes(path() + "/hparams.json", "{}");
  }
  std::string path() const { return folder_ / "run"; }
  Hparams hparams(const std::string& resume) const {
    Hparams hparams;
    hparams.run.output_dir.value = path();
    hparams.checkpoint.resume.value = resume;
    return hparams;
  }
  /// Its first parameter is the step.
  void save(std::int64_t n = 5) {
    RecordedStep step;
    step.values[0][0] = static_cast<float>(n);
    save_run(path() + "/checkpoints", {}, recipe_with("A"), hparams("none"), {.step = n, .samples = 8 * n}, {}, step,
             *one_rank());
  }
  std::string file_of_step(int n) const {
    return path() + "/checkpoints/step_0000000" + std::to_string(n) + "/rank_00000.safetensors";
  }
  void damage(int n) const {
    std::string bytes = read_bytes(file_of_step(n));
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_bytes(file_of_step(n), bytes);
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("a run that saved no checkpoint begins again by auto alone") {
  const BegunRun run;
  const ResumeDecision again = resolve_resume(recipe_with("A"), run.hparams("auto"));
  CHECK_FALSE(again.checkpoint);
  REQUIRE(again.notes.size() == 1);
  CHECK(contains(again.notes[0], "yet: starting from the beginning"));
  const std::string refusal = error_of([&] { resolve_resume(recipe_with("A"), run.hparams("none")); });
  CHECK(contains(refusal, "[RUN-01]"));
  CHECK(contains(refusal, "begin it again by checkpoint.resume=auto, as it saved no checkpoint"));
}

TEST_CASE("what a killed save left is no checkpoint, and a damaged one is never overwritten unasked") {
  const BegunRun run;
  std::filesystem::create_directories(run.path() + "/checkpoints/.partial-step_00000003");
  CHECK_FALSE(resolve_resume(recipe_with("A"), run.hparams("auto")).checkpoint);
  std::filesystem::create_directories(run.path() + "/checkpoints/step_00000003");
  CHECK(
      contains(error_of([&] { resolve_resume(recipe_with("A"), run.hparams("auto")); }), "[RUN-03] there is no whole"));
}

TEST_CASE("a run with a checkpoint is gone on with by auto, and how the recipe differs is noted") {
  BegunRun run;
  run.save();
  const ResumeDecision same = resolve_resume(recipe_with("A"), run.hparams("auto"));
  CHECK(same.checkpoint == run.path() + "/checkpoints/step_00000005");
  CHECK(same.notes.empty());
  const ResumeDecision other = resolve_resume(recipe_with("B"), run.hparams("auto"));
  REQUIRE(other.notes.size() == 1);
  CHECK(contains(other.notes[0], "sharding: A there, B here"));
  CHECK(contains(error_of([&] { resolve_resume(recipe_with("A"), run.hparams("none")); }),
                 "or go on with it by checkpoint.resume=auto"));
}

TEST_CASE("a run goes back to the latest checkpoint that is whole, and fails where all are damaged") {
  BegunRun run;
  RecordedStep step;
  const auto communicator = one_rank();
  const auto earlier = [&] {
    return load_earlier(recipe_with("A"), run.hparams("none"), World(), step, *communicator, 72);
  };
  step.values[0][0] = 1;
  CHECK_FALSE(earlier());
  CHECK(step.values[0][0] == 1);
  for (const std::int64_t n : {4, 5, 6, 7}) run.save(n);
  const auto check_step = [&](int n) {
    const auto found = earlier();
    REQUIRE(found);
    CHECK(found->state.step == n);
    CHECK(found->state.samples == 8 * n);
    CHECK(found->path == run.path() + "/checkpoints/step_0000000" + std::to_string(n));
    CHECK(step.values[0][0] == static_cast<float>(n));
  };
  check_step(7);
  run.damage(7);
  check_step(6);
  std::filesystem::resize_file(run.file_of_step(6), 10);
  check_step(5);
  run.damage(5);
  run.damage(4);
  const std::string refusal = error_of([&] { earlier(); });
  CHECK(contains(refusal, "[CHECKPOINT-05]"));
  CHECK(contains(refusal, "step_00000004\" is damaged, and there is no earlier checkpoint in"));
}

TEST_CASE("damage to a checkpoint that was asked for by its path is a failure") {
  BegunRun run;
  run.save();
  RecordedStep step;
  const std::string checkpoint = run.path() + "/checkpoints/step_00000005";
  const auto load = [&](OnDamage on_damage) {
    return resumed_state(checkpoint, recipe_with("A"), run.hparams("none"), step, *one_rank(), on_damage);
  };
  CHECK(load(OnDamage::fail)->step == 5);
  run.damage(5);
  CHECK(contains(error_of([&] { load(OnDamage::fail); }), "[CHECKPOINT-05]"));
  CHECK_FALSE(load(OnDamage::warn));
}
