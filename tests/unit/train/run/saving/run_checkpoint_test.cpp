#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include "runtime/files/checkpoint_metadata.hpp"
#include "support/adamw_hparams.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/recorded_step.hpp"
#include "support/temporary_folder.hpp"
#include "train/run/saving/best_counter.hpp"
#include "train/run/saving/saved_state.hpp"

#include <monomorph/models/gpt2.hpp>
#include <monomorph/models/llama3.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <filesystem>
#include <functional>
#include <limits>

namespace {

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

/// A recipe of two tensors, as far as a checkpoint asks.
RecipeProgram recipe_with(std::uint64_t state_fingerprint) {
  RecipeProgram recipe;
  recipe.name = "recorded";
  recipe.state_fingerprint = state_fingerprint;
  recipe.model = &models::gpt2_124m;
  recipe.objective.metrics = {{"accuracy", MetricKind::mean, BestValue::highest}};
  recipe.described_model = described_model(*recipe.model);
  recipe.policies = {{"layers", "2 x monomorph::DecoderBlock"},
                     {"sharding", "monomorph::sharding::FullShard", false},
                     {"precision", "monomorph::precision::Fp32"},
                     {"optimizer", "monomorph::optim::AdamW"}};
  recipe.expectations = {{"budget", "none", false}};
  recipe.memory = [](int, std::int64_t, int) { return plan::Memory{}; };
  recipe.planned.strategy = [](int) { return plan::Strategy{}; };
  recipe.planned.memory = [](const plan::Strategy&, int, std::int64_t, int) { return plan::Memory{}; };
  recipe.flops = [](std::int64_t, int) { return plan::FlopsPerToken{}; };
  return recipe;
}

const Hparams hparams = [] {
  Hparams changed;
  adamw(changed).lr.value = 0.1 + 0.2;
  return changed;
}();

const std::unique_ptr<Communicator> communicator = one_rank();

constexpr RunState state{.step = 5, .updates = 3, .samples = 40, .tokens = 1280, .skipped = 2, .skipped_in_a_row = 1};

RecordedStep counted_step() {
  RecordedStep step;
  float next = 0;
  for (auto& buffer : step.values)
    for (float& value : buffer) value = next += 0.1f;
  return step;
}

}  // namespace

TEST_CASE("a run's state comes back bit for bit") {
  const TemporaryFolder folder;
  RecordedStep saved = counted_step(), restored;
  CHECK(save_run(folder.path(), {.latest = 2}, recipe_with(1), hparams, state, {}, saved, *communicator).empty());
  const RestoredRun run = restore_run(find_checkpoint(folder.path()), recipe_with(1), restored, true);
  CHECK(restored.values == saved.values);
  CHECK(restored.n_parameters_changed == 1);
  CHECK(run.state.step == 5);
  CHECK(run.state.updates == 3);
  CHECK(run.state.samples == 40);
  CHECK(run.state.tokens == 1280);
  CHECK(run.state.skipped == 2);
  CHECK(run.state.skipped_in_a_row == 1);
  CHECK(adamw(run.hparams).lr.value == 0.1 + 0.2);
  CHECK(adamw(checkpoint_hparams(find_checkpoint(folder.path()), recipe_with(1))).lr.value == 0.1 + 0.2);
}

TEST_CASE("the best evaluation so far comes back to a run that goes by the same metric of the same set") {
  const TemporaryFolder folder;
  RunState evaluated = state;
  evaluated.best_evaluation = 0.75;
  Hparams keeping = hparams;
  keeping.checkpoint.keep_best.value = true;
  keeping.checkpoint.best_metric.value = "accuracy";
  keeping.data.evaluation.value = {{"wiki", "wiki.pbin"}, {"code", "code.pbin"}};
  keeping.checkpoint.best_by.value = "wiki";
  RecordedStep saved = counted_step();
  save_run(
      folder.path(), retention_of(recipe_with(1), keeping), recipe_with(1), keeping, evaluated, {}, saved,
      *communicator, [] {}, 0.5);
  const std::string checkpoint = find_checkpoint(folder.path());
  const auto metadata = runtime::read_checkpoint_metadata(checkpoint);
  CHECK(std::get<double>(metadata.counters.at("evaluation_accuracy.wiki")) == 0.5);
  CHECK(std::get<double>(metadata.counters.at("highest_evaluation_accuracy.wiki")) == 0.75);
  const auto restored = [&](const Hparams& by) {
    RecordedStep step;
    return restore_run(checkpoint, recipe_with(1), step, true, best_counter(recipe_with(1), by)).state.best_evaluation;
  };
  CHECK(restored(keeping) == 0.75);
  CHECK_FALSE(note_other_best(checkpoint, recipe_with(1), keeping).has_value());
  Hparams not_keeping = keeping, by_code = keeping, by_loss = keeping, by_lowest = keeping;
  not_keeping.checkpoint.keep_best.value = false;
  by_code.checkpoint.best_by.value = "code";
  by_loss.checkpoint.best_metric.value = "loss";
  by_lowest.checkpoint.best_is.value = BestValue::lowest;
  CHECK_FALSE(restored(not_keeping).has_value());
  CHECK_FALSE(note_other_best(checkpoint, recipe_with(1), not_keeping).has_value());
  for (const Hparams& other : {by_code, by_loss, by_lowest}) {
    CHECK_FALSE(restored(other).has_value());
    CHECK(note_other_best(checkpoint, recipe_with(1), other)
              .value()
              .starts_with("the best checkpoint was that of the highest evaluation_accuracy.wiki so far"));
  }
  for (const std::variant<std::int64_t, double> wrong :
       {std::variant<std::int64_t, double>(std::numeric_limits<double>::quiet_NaN()), {std::int64_t{1}}}) {
    auto changed = metadata;
    changed.counters["highest_evaluation_accuracy.wiki"] = wrong;
    CHECK(contains(error_of([&] { saved_state(changed, checkpoint, 1024, best_counter(recipe_with(1), keeping)); }),
                   "[CHECKPOINT-03]"));
  }
}

TEST_CASE("what a run knows of spikes and of its table of products comes back, and what no run can know is refused") {
  const TemporaryFolder folder;
  RunState watching = state;
  watching.spike_levels = {{.count = 4, .mean = 3.1, .variance = 0.2}, {.count = 4, .mean = 0.7, .variance = 1e-3}};
  watching.rewinds = 2;
  watching.product_table = std::int64_t{3} << 60;
  Hparams guarded = hparams;
  guarded.spikes.action.value = SpikeAction::skip;
  RecordedStep saved = counted_step();
  save_run(folder.path(), {.latest = 2}, recipe_with(1), guarded, watching, {}, saved, *communicator);
  const std::string checkpoint = find_checkpoint(folder.path());
  const auto metadata = runtime::read_checkpoint_metadata(checkpoint);
  const RunState restored = saved_state(metadata, checkpoint, 1024);
  CHECK(restored.spike_levels.loss == watching.spike_levels.loss);
  CHECK(restored.spike_levels.gradient_norm == watching.spike_levels.gradient_norm);
  CHECK(restored.rewinds == 2);
  CHECK(restored.product_table == std::int64_t{3} << 60);
  const auto refused = [&](const char* name, std::variant<std::int64_t, double> value) {
    auto changed = metadata;
    changed.counters[name] = value;
    CHECK(contains(error_of([&] { saved_state(changed, checkpoint, 1024); }), std::string("counters.") + name));
  };
  refused("spike_loss_count", std::int64_t{6});
  refused("spike_loss_mean", std::numeric_limits<double>::quiet_NaN());
  refused("spike_norm_variance", -1e-9);
  refused("spike_norm_variance", std::int64_t{1});
  refused("rewinds", std::int64_t{-1});
  refused("product_table", std::int64_t{-1});
  refused("product_table", std::numeric_limits<std::int64_t>::max());
  refused("product_table", 0.5);
}

TEST_CASE("without moments, only parameters are read") {
  const TemporaryFolder folder;
  RecordedStep saved = counted_step(), restored;
  save_run(folder.path(), {.latest = 2}, recipe_with(1), hparams, state, {}, saved, *communicator);
  restore_run(find_checkpoint(folder.path()), recipe_with(1), restored, false);
  CHECK(restored.values[0] == saved.values[0]);
  CHECK(restored.values[1] == decltype(restored.values)::value_type{});
}

TEST_CASE("a checkpoint of a recipe with another state is refused, what differs is named, and nothing is loaded") {
  const TemporaryFolder folder;
  RecordedStep saved = counted_step(), other;
  save_run(folder.path(), {.latest = 2}, recipe_with(1), hparams, state, {}, saved, *communicator);
  RecipeProgram recipe = recipe_with(2);
  recipe.policies[1].value = "monomorph::sharding::Replicate";
  recipe.policies[2].value = "monomorph::precision::Bf16Mixed";
  recipe.policies[3].value = "my::Lion<monomorph::optim::WeightDecayClasses{true}>";
  static constexpr DecoderSpec wider = [] {
    DecoderSpec model = models::gpt2_124m;
    model.d_ff = 4096;
    model.norm.epsilon = 1e-6;
    return model;
  }();
  recipe.described_model = described_model(wider);
  const std::string message = error_of([&] { restore_run(find_checkpoint(folder.path()), recipe, other, true); });
  CHECK(contains(message, "[RUN-04]"));
  CHECK(contains(message,
                 "precision: Fp32 there, Bf16Mixed here; optimizer: AdamW there, "
                 "my::Lion<WeightDecayClasses{true}> here; model.d_ff: 3072 there, 4096 here; "
                 "model.norm.epsilon: 1e-05 there, 1e-06 here;"));
  CHECK_FALSE(contains(message, "sharding"));  // it would not have mattered
  CHECK(other.values == RecordedStep().values);
  CHECK(other.n_parameters_changed == 0);

  CHECK(contains(error_of([&] { check_recipe(find_checkpoint(folder.path()), recipe_with(2)); }),
                 "metadata.json does not tell in what"));
}

TEST_CASE("of many differences the first ones are named") {
  const TemporaryFolder folder;
  RecordedStep saved = counted_step();
  save_run(folder.path(), {.latest = 2}, recipe_with(1), hparams, state, {}, saved, *communicator);
  RecipeProgram recipe = recipe_with(2);
  recipe.described_model = described_model(models::llama3_8b);
  const std::string message = error_of([&] { check_recipe(find_checkpoint(folder.path()), recipe); });
  CHECK(contains(message, "model.vocab_size: 50257 there, 128256 here; "));
  CHECK(contains(message, "; and "));
  CHECK(contains(message, " more; use the program"));
}

TEST_CASE("a recipe that differs in what leaves the state as it is goes on, and the difference is told") {
  const TemporaryFolder folder;
  RecordedStep saved = counted_step(), restored;
  save_run(folder.path(), {.latest = 2}, recipe_with(1), hparams, state, {}, saved, *communicator);
  const std::string checkpoint = find_checkpoint(folder.path());
  CHECK_FALSE(check_recipe(checkpoint, recipe_with(1)));
  RecipeProgram recipe = recipe_with(1);
  recipe.fingerprint = 17;
  recipe.policies[1].value = "monomorph::sharding::Replicate";
  recipe.expectations[0].value = "ranks 1, bytes_per_rank 5, micro_batch 1";
  const auto difference = check_recipe(checkpoint, recipe);
  REQUIRE(difference);
  CHECK(contains(*difference, ": sharding: FullShard there, Replicate here; budget: none there, ranks 1, "));
  restore_run(checkpoint, recipe, restored, true);
  CHECK(restored.values == saved.values);
}

TEST_CASE("numbers that no run can have saved are refused before anything is loaded, with file and field") {
  const TemporaryFolder folder;
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  const std::string checkpoint = folder / "step_00000005";
  // As one who forges metadata.json would: the checksum is right.
  const auto error_with = [&](const std::function<void(runtime::CheckpointMetadata&)>& change) {
    RecordedStep saved = counted_step(), restored;
    save_run(folder.path(), {.latest = 2}, recipe_with(1), hparams, state, {}, saved, *communicator);
    runtime::CheckpointMetadata metadata = runtime::read_checkpoint_metadata(checkpoint);
    change(metadata);
    write_bytes(checkpoint + "/metadata.json", runtime::checkpoint_metadata::to_json(metadata));
    const std::string error = error_of([&] { restore_run(checkpoint, recipe_with(1), restored, true); });
    CHECK(error == error_of([&] { check_recipe(checkpoint, recipe_with(1)); }));
    if (error != "(no error)") CHECK(restored.values == RecordedStep().values);
    return error;
  };
  const auto refused = [&](const std::string& field, const std::function<void(runtime::CheckpointMetadata&)>& change) {
    const std::string error = error_with(change);
    CAPTURE(field, error);
    CHECK(error.starts_with("[CHECKPOINT-03] \"" + checkpoint + "/metadata.json\" is damaged (" + field + " must be"));
  };
  CHECK(error_with([](auto&) {}) == "(no error)");
  refused("step", [](auto& metadata) { metadata.step = most_steps + 1; });
  for (const std::int64_t samples : {std::int64_t{0}, std::int64_t{4}, 5 * std::int64_t{1'000'000'000} + 1, largest})
    refused("sample_counter", [&](auto& metadata) { metadata.sample_counter = samples; });
  for (const std::int64_t tokens : {40 * models::gpt2_124m.context_length + std::int64_t{1}, largest})
    refused("tokens", [&](auto& metadata) { metadata.n_tokens = tokens; });
  refused("tokens", [&](auto& metadata) {
    metadata.step = most_steps;
    metadata.sample_counter = most_steps * 1'000'000'000;
    metadata.n_tokens = largest;
  });
  for (const auto& [name, most] :
       {std::pair{"updates", std::int64_t{5}}, {"skipped", 2}, {"skipped_in_a_row", 2}, {"steps_at_scale", 3}}) {
    const std::string field = std::string("counters.") + name;
    for (const std::int64_t value : {std::int64_t{-1}, most + 1, largest})
      refused(field, [&, name = name](auto& metadata) { metadata.counters[name] = value; });
    refused(field, [&, name = name](auto& metadata) { metadata.counters[name] = 1.0; });
  }
  for (const char* const name : {"updates", "skipped", "skipped_in_a_row"})
    refused(std::string("counters.") + name, [&](auto& metadata) { metadata.counters.erase(name); });
  for (const double scale : {0.0, -1.0, 3.0, 0x1p-41, 0x1p41, std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::quiet_NaN()})
    refused("counters.loss_scale", [&](auto& metadata) { metadata.counters["loss_scale"] = scale; });
  refused("counters.loss_scale", [&](auto& metadata) { metadata.counters["loss_scale"] = std::int64_t{1}; });
  for (const double scale : {0x1p-40, 0x1p40})
    CHECK(error_with([&](auto& metadata) { metadata.counters["loss_scale"] = scale; }) == "(no error)");
  CHECK(error_with([](auto& metadata) {  // of a version without a loss scale
          metadata.counters.erase("loss_scale");
          metadata.counters.erase("steps_at_scale");
        }) == "(no error)");
}

TEST_CASE("the latest checkpoint is found from a checkpoint, a folder of them and a run folder") {
  const TemporaryFolder folder;
  RecordedStep step = counted_step();
  for (const std::int64_t n : {5, 7}) {
    RunState later = state;
    later.step = n;
    save_run(folder / "checkpoints", {}, recipe_with(1), hparams, later, {}, step, *communicator);
  }
  const std::string latest = folder / "checkpoints/step_00000007", earlier = folder / "checkpoints/step_00000005";
  CHECK(find_checkpoint(folder.path()) == latest);
  CHECK(find_checkpoint(folder / "checkpoints") == latest);
  CHECK(find_checkpoint(earlier) == earlier);
  std::filesystem::resize_file(latest + "/rank_00000.safetensors", 10);
  CHECK(find_checkpoint(folder.path()) == earlier);
}

TEST_CASE("where no checkpoint is, that is said") {
  const TemporaryFolder folder;
  for (const std::string& path :
       {folder.path(), folder / "nowhere", std::string("/dev/null"), std::string(5000, 'x')}) {
    const std::string message = error_of([&] { find_checkpoint(path); });
    CHECK(contains(message, "[RUN-03] there is no checkpoint"));
  }
}

TEST_CASE("as many checkpoints are kept as asked for") {
  const TemporaryFolder folder;
  RecordedStep step = counted_step();
  RunState later = state;
  for (later.step = 1; later.step <= 4; ++later.step)
    save_run(folder.path(), {.latest = 3}, recipe_with(1), hparams, later, {}, step, *communicator);
  CHECK(n_entries(folder.path()) == 3);
  for (; later.step <= 9; ++later.step)
    save_run(folder.path(), {}, recipe_with(1), hparams, later, {}, step, *communicator);
  CHECK(n_entries(folder.path()) == 8);
}
