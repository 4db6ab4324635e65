// The recipes that are here to be used train a step, which is saved.
#include "programs.hpp"
#include "support/catch.hpp"

#include <monomorph/core/machine_memory.hpp>

#include <cmath>

using namespace monomorph::testing;

namespace {

/// Trains a step with the recipe's own hyperparameter file, on this test's text and with a batch of one.
void check_trains(const std::string& recipe) {
  CAPTURE(recipe);
  const Workplace place(recipe);
  Arguments arguments{"--hparams", std::string(MONOMORPH_SOURCE_DIR) + "/recipes/" + recipe + ".json"};
  for (const std::string& set :
       {"run.output_dir=" + (place / "run"), "data.train=" + (place / "train.pbin"),
        "data.evaluation=" + (place / "train.pbin"), "data.tokenizer=" + (place / "tokenizer.json"),
        std::string("run.steps=1"), std::string("batch.global_batch=1"), std::string("batch.micro_batch=1"),
        std::string("schedule.warmup_steps=0"), std::string("evaluation.at_end=false"), std::string("log.every=1")})
    arguments.insert(arguments.end(), {"--set", set});
  const ProcessResult result = place.run(arguments);
  CAPTURE(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(checkpoints_of(place / "run").size() == 1);
  const double loss = metric_values(place / "run", "loss").at(1);
  CHECK(std::isfinite(loss));
  CHECK(loss > 1);
}

}  // namespace

TEST_CASE("the small recipes train") {
  for (const std::string recipe : {"quickstart", "small_gpt2", "small_llama"}) check_trains(recipe);
}

TEST_CASE("the recipes of published sizes train", "[.exhaustive]") {
  for (const std::string recipe : {"gpt2_ddp_fp32", "gpt2_fsdp_bf16"}) check_trains(recipe);
}

TEST_CASE("the recipe of a Llama 3 1B trains", "[.exhaustive]") {
  constexpr std::int64_t needed = std::int64_t{23} << 30;
  if (monomorph::machine_memory().available < needed) MONOMORPH_SKIP("needs 23 GiB of free memory");
  check_trains("llama3_1b_fsdp_bf16");
}
