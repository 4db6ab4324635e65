#include "core/as_usage_error.hpp"
#include "train/commands/chat_command.hpp"
#include "train/commands/describe_command.hpp"
#include "train/commands/encoder_commands.hpp"
#include "train/commands/evaluate_command.hpp"
#include "train/commands/generate_command.hpp"
#include "train/commands/reference_command.hpp"
#include "train/commands/score_command.hpp"
#include "train/commands/serve_command.hpp"
#include "train/commands/weights_commands.hpp"
#include "train/describe/batch_partition.hpp"
#include "train/run/data/run_data.hpp"
#include "train/run/data/run_tokenizer.hpp"

#include <monomorph/core/command_line.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/number_text.hpp>
#include <monomorph/core/process_setup.hpp>
#include <monomorph/core/truncation_guard.hpp>
#include <monomorph/data/loading/loader.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/machine/compute_environment.hpp>
#include <monomorph/runtime/machine/waiting_threads.hpp>
#include <monomorph/train/commands/check.hpp>
#include <monomorph/train/commands/local_ranks.hpp>
#include <monomorph/train/describe/describe.hpp>
#include <monomorph/train/describe/recipe_program.hpp>
#include <monomorph/train/hparams/hparams.hpp>
#include <monomorph/train/inference/evaluation.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>
#include <monomorph/train/run/trainer.hpp>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

namespace monomorph::train {
namespace {

struct HparamsOptions {
  std::string file;
  std::vector<std::string> sets;
  void add_to(CLI::App& app) {
    app.add_option("--hparams", file, "hyperparameters (JSON); see `schema`");
    app.add_option("--set", sets, "overrides one value: optimizer.lr=3e-4")->allow_extra_args(false);
  }
  /// Reads the hyperparameters for so many ranks, or for a command that does not train.
  /// @throws UsageError of a line for each mistake
  Hparams read(const RecipeProgram& recipe, std::optional<int> ranks) const {
    if (file.empty())
      throw UsageError("RUN-10", "--hparams <file.json> is missing; `schema` says what may stand in it");
    Mistakes mistakes;
    Hparams hparams = read_hparams(file, sets, mistakes, default_hparams(recipe.hparams));
    if (ranks) check_ranks(recipe, hparams, *ranks, mistakes);
    mistakes.throw_if_any();
    return hparams;
  }
};

/// The number in "steps=3"; absent if the text has another form.
std::optional<std::int64_t> traced_steps(std::string_view text) {
  constexpr std::string_view prefix = "steps=";
  if (!text.starts_with(prefix)) return std::nullopt;
  const auto steps = number_from<std::int64_t>(text.substr(prefix.size()));
  return steps && *steps >= 1 && *steps <= 1000 ? steps : std::nullopt;
}

/// Checks for the ranks that a launcher has started, or for as many local ones as --ranks would start.
int run_check(const RecipeProgram& recipe, const HparamsOptions& options, std::optional<int> local_ranks) {
  const LaunchedRanks ranks = local_ranks ? LaunchedRanks{*local_ranks, *local_ranks} : launched_ranks();
  show(check(recipe, options.read(recipe, ranks.all), ranks));
  return 0;
}

/// The commands that ranks work on together.
bool takes_ranks(const CLI::App& command) {
  const std::string& name = command.get_name();
  return name == "check" || name == "evaluate" || name == "generate" || name == "reference";
}

/// The program's own options are those of training; some commands read the number of ranks alone.
/// @throws UsageError [RUN-13] one of them is given where nothing reads it
void refuse_unread_options(const CLI::App& app, const CLI::App& command) {
  for (const CLI::Option* const option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || (takes_ranks(command) && name == "--ranks")) continue;
    const bool has_its_own = command.get_option_no_throw(name) != nullptr;
    throw UsageError("RUN-13",
                     fmt::format("{0} as it stands here is an option of training, and {1} does not read it; {2}", name,
                                 command.get_name(),
                                 has_its_own ? "write it after " + command.get_name() : "leave it out"));
  }
}

/// Each of several processes would do the whole work, and write over what the others write.
/// @throws UsageError [RUN-27] a launcher has started several; as launched_ranks
void refuse_launched_ranks(const CLI::App& command) {
  if (const int ranks = launched_ranks().all; ranks > 1)
    throw UsageError("RUN-27", fmt::format("{} is the work of one process, and a launcher has started {}; start it "
                                           "once, without the launcher and the variables that it sets",
                                           command.get_name(), ranks));
}

}  // namespace

int run_program(const RecipeProgram& recipe, int argc, char** argv) {
  set_up_process();
  choose_instruction_set();
  const TruncationGuard truncation;  // data files may be shortened while they are mapped
  CLI::App app(fmt::format("Trains the recipe {}.", recipe.name));
  HparamsOptions train_options;
  train_options.add_to(app);

  auto* const describe_command = app.add_subcommand("describe", "what the recipe is and needs");
  DescribeOptions describe_options;
  describe_options.add_to(*describe_command);

  auto* const schema_command = app.add_subcommand("schema", "JSON Schema of the hyperparameters");
  auto* const check_command = app.add_subcommand("check", "all that can be known without training");
  HparamsOptions check_options;
  check_options.add_to(*check_command);
  bool collectives = false;
  check_command->add_flag("--collectives", collectives,
                          "the ranks' collectives instead: right sums, speeds, the slowest pair");
  check_command->fallthrough();  // --ranks is an option of the program itself

  auto* const evaluate_command =
      app.add_subcommand("evaluate", "loss of a checkpoint on held-out data, or a benchmark");
  EvaluateOptions evaluate_options;
  evaluate_options.add_to(*evaluate_command);
  evaluate_command->fallthrough();  // as above

  auto* const score_command = app.add_subcommand("score", "how probable the tokens of texts are");
  ScoreOptions score_options;
  score_options.add_to(*score_command);

  auto* const generate_command = app.add_subcommand("generate", "continues a prompt, or many");
  GenerateOptions generate_options;
  generate_options.add_to(*generate_command);
  generate_command->fallthrough();  // as above

  auto* const chat_command = app.add_subcommand("chat", "talks with a model by its chat template");
  ChatOptions chat_options;
  chat_options.add_to(*chat_command);
  auto* const serve_command = app.add_subcommand("serve", "answers requests over HTTP, in the form of OpenAI's API");
  ServeOptions serve_options;
  serve_options.add_to(*serve_command);

  auto* const reference_command =
      app.add_subcommand("reference",
                         "how probable sequences are to the model that training starts from, beside their sets");
  HparamsOptions reference_options;
  reference_options.add_to(*reference_command);
  reference_command->fallthrough();  // as above
  auto* const retrieve_command =
      app.add_subcommand("retrieve", "how well an encoder finds the texts of held-out pairs");
  RetrieveOptions retrieve_options;
  retrieve_options.add_to(*retrieve_command);
  auto* const embed_command = app.add_subcommand("embed", "embeddings of texts by an encoder, as JSON Lines");
  EmbedOptions embed_options;
  embed_options.add_to(*embed_command);

  auto* const import_command = app.add_subcommand("import", "a checkpoint of a Hugging Face model's weights");
  ImportOptions import_options;
  import_options.add_to(*import_command);
  auto* const export_command = app.add_subcommand("export", "a checkpoint's weights as a Hugging Face model");
  ExportCommandOptions export_options;
  export_options.add_to(*export_command);

  std::optional<int> local_ranks;
  add_number(app, "--ranks", local_ranks, "starts so many ranks on this machine", {1, 1 << 12});
  std::string trace;
  app.add_option("--trace", trace, "steps=N: writes what a rank does when, in N steps from the second one on")
      ->check(CLI::Validator(
          [](const std::string& text) { return traced_steps(text) ? "" : "must be steps=N, with N from 1 to 1000"; },
          "steps=N"));
  std::string memory_snapshot;
  app.add_option("--memory-snapshot", memory_snapshot,
                 "writes what lies where in a rank's memory, and when in a step (JSON)");
  app.require_subcommand(0, 1);

  if (!parse_command_line(app, argc, argv, "RUN-13")) return 0;
  for (const CLI::App* const command : app.get_subcommands()) {
    refuse_unread_options(app, *command);
    if (!takes_ranks(*command)) refuse_launched_ranks(*command);
  }
  if (*describe_command) return run_describe(recipe, describe_options);
  if (*schema_command) return show(schema(default_hparams(recipe.hparams)) + "\n"), 0;
  if (*import_command) return run_import(recipe, import_options);
  if (*export_command) return run_export(recipe, export_options);
  if (*check_command && !collectives) return run_check(recipe, check_options, local_ranks);
  if (!*check_command && local_ranks.value_or(1) == 1) sleep_after_spinning(argv);
  if (*score_command) return run_score(recipe, score_options);
  if (*chat_command) return run_chat(recipe, chat_options);
  if (*serve_command) return run_serve(recipe, serve_options);
  if (*retrieve_command) return run_retrieve(recipe, retrieve_options);
  if (*embed_command) return run_embed(recipe, embed_options);
  end_with_parent();
  const bool starts_ranks = local_ranks.value_or(1) > 1;
  // By this process, or by local ranks, before which mistakes are told once for all.
  const auto on_ranks = [&](const auto& look, const auto& act) {
    if (!starts_ranks) return act();
    look();
    return run_local_ranks(*local_ranks, argc, argv);
  };
  if (*evaluate_command)
    return on_ranks([&] { check_evaluate(recipe, evaluate_options); },
                    [&] { return run_evaluate(recipe, evaluate_options); });
  if (*generate_command)
    return on_ranks([&] { check_generate(recipe, generate_options, *local_ranks); },
                    [&] { return run_generate(recipe, generate_options); });
  if (*reference_command) {
    const Hparams hparams = reference_options.read(recipe, std::nullopt);
    return on_ranks([&] { check_reference_command(recipe, hparams); }, [&] { return run_reference(recipe, hparams); });
  }
  const HparamsOptions& options = *check_command ? check_options : train_options;
  const Hparams hparams = options.read(recipe, starts_ranks ? *local_ranks : launched_ranks().all);
  if (starts_ranks) return run_local_ranks(*local_ranks, argc, argv);  // mistakes were reported above, once for all
  if (*check_command) return show(check_collectives(recipe, hparams)), 0;
  return train(recipe, hparams, {traced_steps(trace).value_or(0), memory_snapshot}, argc, argv);
}

}  // namespace monomorph::train
