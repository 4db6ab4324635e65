#include "train/commands/generate_command.hpp"

#include "core/as_usage_error.hpp"
#include "train/commands/forward_memory.hpp"
#include "train/commands/ordered_lines.hpp"
#include "train/commands/prompt_source.hpp"
#include "train/commands/text_model.hpp"
#include "train/inference/constraint.hpp"
#include "train/inference/wanted_text.hpp"
#include "train/run/ranks/peer_failure.hpp"

#include <monomorph/core/file_error.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/runtime/comm/together.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>

namespace monomorph::train {
namespace {

using nlohmann::ordered_json;

/// A text as a line of JSON.
class JsonLines {
 public:
  explicit JsonLines(const data::Tokenizer& tokenizer) : tokenizer_(tokenizer) {}

  /// Adds the id of the next prompt.
  void add_id(ordered_json id) { ids_.push_back(std::move(id)); }
  std::string line_of(TextNumber number, const GeneratedText& text) const {
    ordered_json line{{"index", number.prompt}};
    if (const ordered_json& id = ids_[number.prompt]; !id.is_null()) line["id"] = id;
    line["sample"] = number.sample;
    line["text"] = text.text;
    line["finish_reason"] = name_of(text.finish_reason);
    line["tokens"] = text.ids;
    if (!text.log_probabilities.empty()) line["log_probabilities"] = log_probabilities_of(text);
    return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  }

 private:
  ordered_json log_probabilities_of(const GeneratedText& text) const {
    ordered_json all = ordered_json::array();
    for (const auto& candidates : text.log_probabilities) {
      ordered_json token = entry_of(candidates.front());
      for (std::size_t i = 1; i < candidates.size(); ++i) token["most_probable"].push_back(entry_of(candidates[i]));
      all.push_back(std::move(token));
    }
    return all;
  }
  ordered_json entry_of(const Candidate& candidate) const {
    return {{"token", tokenizer_.has_token(candidate.id) ? tokenizer_.token_of(candidate.id) : ""},
            {"id", candidate.id},
            {"log_probability", candidate.probability}};
  }

  const data::Tokenizer& tokenizer_;
  std::vector<ordered_json> ids_;
};

/// The same prompt for each of its samples.
class Requests {
 public:
  /// @param next the next prompt's tokens   @param samples of each
  Requests(std::function<std::optional<std::vector<std::int32_t>>()> next, std::int64_t samples)
      : next_prompt_(std::move(next)), samples_(samples) {}

  std::optional<TextRequest> next() {
    if (sample_ == 0) prompt_ = next_prompt_();
    if (!prompt_) return std::nullopt;
    TextRequest request{*prompt_, {number_, static_cast<std::uint32_t>(sample_)}};
    if (++sample_ == samples_) sample_ = 0, ++number_;
    return request;
  }

 private:
  std::function<std::optional<std::vector<std::int32_t>>()> next_prompt_;
  std::int64_t samples_, sample_ = 0;
  std::uint32_t number_ = 0;
  std::optional<std::vector<std::int32_t>> prompt_;
};

/// Shows a text while it grows, behind its prompt.
void stream(Session& session, const TextModel& model, std::string_view prompt, Requests& requests) {
  show(prompt);
  generate(session, *model.tokenizer, model.settings,
           {.next = [&] { return requests.next(); }, .show = [](TextNumber, std::string_view more) { show(more); }});
  show("\n");
}

/// A line for each text, of which the ranks make those that are theirs.
void write_lines(Session& session, const TextModel& model, const JsonLines& json, Requests& requests,
                 std::int64_t samples, const World& world) {
  OrderedLines lines(world);
  const auto next = [&, n_texts = std::int64_t{0}]() mutable {
    std::optional<TextRequest> request;
    do {
      request = requests.next();
      if (request) lines.expect(++n_texts);
    } while (request && !lines.is_mine(n_texts - 1));
    return request;
  };
  const auto done = [&](TextNumber number, const GeneratedText& text) {
    lines.add(number.prompt * samples + number.sample, json.line_of(number, text));
  };
  generate(session, *model.tokenizer, model.settings, {.next = next, .done = done});
  lines.finish();
}

/// What every rank reads before it begins.
struct Work {
  std::unique_ptr<PromptSource> prompts;  ///< or else there is one
  std::string prompt;
  TextModel model;
};

std::string read_prompt(const GenerateOptions& options) {
  if (options.prompt_file.empty()) return options.prompt;
  return as_usage_error("--prompt-file", [&] { return read_text_file(options.prompt_file); });
}
std::unique_ptr<PromptSource> open_prompts(const GenerateOptions& options) {
  return as_usage_error("--input", [&] { return std::make_unique<PromptSource>(options.input); });
}

[[noreturn]] void refuse_schema(const std::string& file, std::string_view what) {
  throw UsageError("RUN-32", fmt::format("{} {} (--json-schema)", in_quotes(file), what));
}

/// That texts are valid by the schema of a file.
std::shared_ptr<const Constraint> constraint_by_schema(const std::string& file, const TextModel& model) {
  const std::string text = as_usage_error("--json-schema", [&] { return read_text_file(file); });
  const auto schema = json_tree_of(text);
  if (!schema) refuse_schema(file, fmt::format("is no JSON of up to {} levels", most_json_levels));
  auto vocabulary = std::make_shared<const ConstrainedVocabulary>(*model.tokenizer, model.settings.stop_ids);
  if (!vocabulary->spells_json()) refuse_schema(file, "cannot be kept to: the tokeniser lacks tokens of single bytes");
  try {
    const WantedText wanted{.document = WantedText::Document{GivenSchema{&*schema, "schema"}}};
    return std::make_shared<const Constraint>(std::move(vocabulary), grammar_of(wanted));
  } catch (const SchemaError& error) {
    refuse_schema(file, fmt::format("has what cannot be kept to: {} {}", error.path(), error.what()));
  }
}

Work read_work(const RecipeProgram& recipe, const GenerateOptions& options) {
  Work work;
  if (options.input.empty())
    work.prompt = read_prompt(options);
  else
    work.prompts = open_prompts(options);
  work.model = load_text_model(recipe, options);
  if (!options.json_schema.empty())
    work.model.settings.constraint = constraint_by_schema(options.json_schema, work.model);
  return work;
}

void continue_one(Work& work, std::int64_t T, const GenerateOptions& options, const World& world) {
  TextModel& model = work.model;
  std::optional<std::vector<std::int32_t>> ids = prompt_ids(*model.tokenizer, work.prompt, model.settings.text_ends);
  const std::int64_t tokens = std::ssize(*ids),
                     longest = model.settings.max_tokens < T - tokens ? tokens + model.settings.max_tokens : T;
  Requests requests([&] { return std::exchange(ids, std::nullopt); }, options.samples);
  const std::int64_t batch = std::min(options.batch, options.samples);
  with_session(*model.weights, request_for_texts(options.cache_tokens, batch, T, longest), [&](Session& session) {
    if (options.samples == 1 && !model.settings.log_probabilities) return stream(session, model, work.prompt, requests);
    JsonLines json(*model.tokenizer);
    json.add_id(nullptr);
    write_lines(session, model, json, requests, options.samples, world);
  });
}

void continue_all(Work& work, std::int64_t T, const GenerateOptions& options, const World& world) {
  TextModel& model = work.model;
  JsonLines json(*model.tokenizer);
  Requests requests(
      [&]() -> std::optional<std::vector<std::int32_t>> {
        auto record = work.prompts->next();
        if (!record) return std::nullopt;
        json.add_id(std::move(record->id));
        return prompt_ids(*model.tokenizer, record->prompt, model.settings.text_ends);
      },
      options.samples);
  with_session(*model.weights, request_for_texts(options.cache_tokens, options.batch, T, T),
               [&](Session& session) { write_lines(session, model, json, requests, options.samples, world); });
}

void continue_texts(Work work, const RecipeProgram& recipe, const GenerateOptions& options, const World& world) {
  const std::int64_t T = recipe.model->context_length;
  if (world.rank() == 0) write_notes(work.model, "options say it otherwise");
  work.prompts ? continue_all(work, T, options, world) : continue_one(work, T, options, world);
}

/// Each rank has the whole model, and reads all prompts.
void continue_on_ranks(const RecipeProgram& recipe, const GenerateOptions& options, const World& world) try {
  const auto communicator = connect_for_command(recipe, world);
  Work work = together(*communicator, "load the model and read its prompts", [&] {
    if (world.rank() == 0) check_generate(recipe, options, world.size());
    return read_work(recipe, options);
  });
  continue_texts(std::move(work), recipe, options, world);
} catch (const RankFailure& failure) {
  exit_on_peer_failure(world, failure, "generating");
}

}  // namespace

void GenerateOptions::add_to(CLI::App& app) {
  GenerationOptions::add_to(app);
  auto* const argument = app.add_option("--prompt", prompt, "text to continue");
  auto* const file = app.add_option("--prompt-file", prompt_file, "file of it")->excludes(argument);
  app.add_option("--input", input, "file of JSON Lines, each with a \"prompt\"; - for standard input")
      ->excludes(argument)
      ->excludes(file);
  app.add_option("--json-schema", json_schema, "file of a JSON schema by which each text is valid");
  add_number(app, "--samples", samples, "texts for each prompt, as JSON Lines if there are several", {1, 10'000})
      ->capture_default_str();
  add_number(app, "--log-probabilities", settings.log_probabilities,
             "of each token, and of so many of the most probable in its place, as JSON Lines", {0, 1000});
  add_number(app, "--batch", batch, "texts at a time", {1, 1024})->capture_default_str();
  add_number(app, "--cache-tokens", cache_tokens, "that the texts at a time have together, with their prompts",
             {.least = 1, .most = std::int64_t{1} << 40});
}

void check_generate(const RecipeProgram& recipe, const GenerateOptions& options, int ranks) {
  check_predicts_next_token(recipe);
  if (ranks == 1) return;
  if (options.input == "-")
    throw UsageError("RUN-13", "--input - is read by one process alone, and --ranks starts several; give a file");
  if (options.input.empty() && options.samples == 1)
    throw UsageError("RUN-13",
                     "--ranks divides texts among ranks, and there is one; give --input or --samples, or "
                     "leave --ranks out");
  if (options.input.empty()) return;
  const auto prompts = open_prompts(options);
  while (prompts->next()) continue;
}

int run_generate(const RecipeProgram& recipe, const GenerateOptions& options) {
  constexpr std::chrono::hours longest_wait{1};  // for a text of another rank
  const World world = connect(longest_wait);
  if (world.size() > 1) return continue_on_ranks(recipe, options, world), 0;
  check_generate(recipe, options, 1);
  continue_texts(read_work(recipe, options), recipe, options, world);
  return 0;
}

}  // namespace monomorph::train
