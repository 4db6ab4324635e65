#include "train/commands/generate_command.hpp"

#include "train/commands/prompt_source.hpp"
#include "train/inference/stop_ids.hpp"
#include "train/run/as_usage_error.hpp"
#include "train/run/restore_model.hpp"
#include "train/run/with_hint.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/number_text.hpp>
#include <monomorph/core/text_file.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/run/run_checkpoint.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

namespace monomorph::train {
namespace {

using nlohmann::ordered_json;

/// Tokens of prompts that go through the model at once.
constexpr std::int64_t most_tokens_of_pass = 2048;

std::string refuse_empty(const std::string& text) { return text.empty() ? "is empty" : ""; }

/// Nothing if the text is no id.
std::optional<std::int32_t> id_of(std::string_view text) {
  const auto id = number_from<std::int32_t>(text);
  return id && *id >= 0 ? id : std::nullopt;
}
std::string check_id_text(const std::string& text) { return id_of(text) ? "" : "must be the id of a token"; }

/// "ID=BIAS"; nothing if it is something else.
std::optional<LogitBias> logit_bias_of(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  const auto id = id_of(text.substr(0, equals));
  const auto bias = number_from<double>(text.substr(equals + 1));
  if (!id || !bias || std::abs(*bias) > 1e4) return std::nullopt;
  return LogitBias{*id, *bias};
}
std::string check_logit_bias(const std::string& text) {
  return logit_bias_of(text) ? "" : "must be ID=BIAS, with the id of a token and a number from -10000 to 10000";
}

void check_predicts(const RecipeProgram& recipe) {
  if (recipe.predicts_next_token) return;
  throw UsageError(
      "RUN-25",
      fmt::format("only a model that predicts the next token can continue a prompt, and {} {}; take a checkpoint of "
                  "another recipe",
                  recipe.name,
                  recipe.output == ModelOutput::embeddings ? "makes embeddings of texts"
                                                           : "predicts tokens that its objective hides"));
}

void check_id(const data::Tokenizer& tokenizer, std::string_view option, std::int32_t id) {
  if (id < tokenizer.vocab_size() && tokenizer.has_token(id)) return;
  throw UsageError("RUN-31",
                   fmt::format("{} names the token {}, and the tokeniser has no such token; ids of tokens are "
                               "below {}",
                               option, id, tokenizer.vocab_size()));
}

/// Some tokenisers have ids without a token between others: nothing could be shown of them.
void exclude_ids_without_token(const data::Tokenizer& tokenizer, std::vector<LogitBias>& biases) {
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    if (!tokenizer.has_token(id)) biases.push_back({id, -std::numeric_limits<double>::infinity()});
}

/// As told, with what the tokeniser says.
GenerationSettings settings_of(const GenerateOptions& options, const data::Tokenizer& tokenizer,
                               const std::string& folder) {
  GenerationSettings settings = options.settings;
  if (options.greedy) settings.sampling.temperature = 0;
  if (!options.ignores_stop_ids)
    settings.stop_ids = as_usage_error("the tokeniser's folder", [&] { return stop_ids(tokenizer, folder); });
  for (const std::string& text : options.more_stop_ids) {
    settings.stop_ids.push_back(*id_of(text));
    check_id(tokenizer, "--stop-id", settings.stop_ids.back());
  }
  for (const std::string& text : options.logit_bias) {
    settings.sampling.logit_bias.push_back(*logit_bias_of(text));
    check_id(tokenizer, "--logit-bias", settings.sampling.logit_bias.back().id);
  }
  exclude_ids_without_token(tokenizer, settings.sampling.logit_bias);
  return settings;
}

/// Texts as lines of JSON, in the order of their prompts.
class JsonLines {
 public:
  JsonLines(const data::Tokenizer& tokenizer, std::int64_t samples) : tokenizer_(tokenizer), samples_(samples) {}

  void add_id(ordered_json id) { ids_.push_back(std::move(id)); }
  void write(TextNumber number, const GeneratedText& text) {
    lines_[number.prompt * samples_ + number.sample] = line_of(number, text);
    for (auto line = lines_.begin(); line != lines_.end() && line->first == next_; line = lines_.erase(line), ++next_)
      show(line->second + "\n");
  }

 private:
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
  std::int64_t samples_;
  std::vector<ordered_json> ids_;
  std::map<std::int64_t, std::string> lines_;  ///< those that wait for one before them
  std::int64_t next_ = 0;
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

/// A checkpoint's model, by itself, or in a step where the recipe has no other way.
class LoadedModel {
 public:
  LoadedModel(const RecipeProgram& recipe, const std::string& checkpoint) {
    if (recipe.make_inference_model == nullptr) {
      communicator_ = one_rank();
      step_ = restored_step(recipe, checkpoint, 1, recipe.hparams.objective, *communicator_, larger_machine);
      return;
    }
    model_ = with_hint(std::string(larger_machine), recipe.make_inference_model);
    restore_model(checkpoint, recipe, *model_);
  }
  Owned<TokenPass> token_pass(const PassSizes& sizes) {
    return model_ ? model_->token_pass(sizes) : step_->token_pass(sizes);
  }

 private:
  std::unique_ptr<Communicator> communicator_;
  Owned<TrainingStep> step_;
  Owned<InferenceModel> model_;
};

struct Model {
  std::unique_ptr<const data::Tokenizer> tokenizer;
  GenerationSettings settings;
  std::unique_ptr<LoadedModel> weights;
};

Model load(const RecipeProgram& recipe, const GenerateOptions& options) {
  const std::string checkpoint = find_checkpoint(options.checkpoint);
  const Hparams hparams = checkpoint_hparams(checkpoint, recipe);
  Model model;
  model.tokenizer = options.required_tokenizer(checkpoint, hparams, recipe);
  const auto folder = std::filesystem::path(options.tokenizer_file(checkpoint, hparams)).parent_path();
  model.settings = settings_of(options, *model.tokenizer, folder.empty() ? "." : folder.string());
  model.weights = std::make_unique<LoadedModel>(recipe, checkpoint);
  return model;
}

/// @param longest tokens that a text may have with its prompt
Session session_of(Model& model, const GenerateOptions& options, std::int64_t batch, std::int64_t context_length,
                   std::int64_t longest) {
  const std::int64_t pages =
      options.cache_tokens ? pages_of(*options.cache_tokens) : batch * pages_of(std::min(longest, context_length));
  auto pass = with_hint("lower --batch or --cache-tokens, or take a machine with more memory", [&] {
    return model.weights->token_pass({.tokens = std::max(batch, std::min(most_tokens_of_pass, context_length)),
                                      .wanted = batch,
                                      .sequences = batch,
                                      .pages = pages});
  });
  return Session(std::move(pass));
}

/// Shows a text while it grows, behind its prompt.
void stream(Session& session, const Model& model, std::string_view prompt, Requests& requests) {
  show(prompt);
  generate(session, *model.tokenizer, model.settings,
           {.next = [&] { return requests.next(); }, .show = [](TextNumber, std::string_view more) { show(more); }});
  show("\n");
}

void write_lines(Session& session, const Model& model, JsonLines& lines, Requests& requests) {
  generate(session, *model.tokenizer, model.settings,
           {.next = [&] { return requests.next(); },
            .done = [&](TextNumber number, const GeneratedText& text) { lines.write(number, text); }});
}

int continue_one(const RecipeProgram& recipe, const GenerateOptions& options) {
  const std::string prompt = options.prompt_file.empty()
                                 ? options.prompt
                                 : as_usage_error("--prompt-file", [&] { return read_text_file(options.prompt_file); });
  Model model = load(recipe, options);
  std::optional<std::vector<std::int32_t>> ids = prompt_ids(*model.tokenizer, prompt, model.settings.stop_ids);
  const std::int64_t T = recipe.model->context_length, tokens = std::ssize(*ids),
                     longest = model.settings.max_tokens < T - tokens ? tokens + model.settings.max_tokens : T;
  Session session = session_of(model, options, std::min(options.batch, options.samples), T, longest);
  Requests requests([&] { return std::exchange(ids, std::nullopt); }, options.samples);
  if (options.samples == 1 && !model.settings.log_probabilities) {
    stream(session, model, prompt, requests);
  } else {
    JsonLines lines(*model.tokenizer, options.samples);
    lines.add_id(nullptr);
    write_lines(session, model, lines, requests);
  }
  return 0;
}

int continue_all(const RecipeProgram& recipe, const GenerateOptions& options) {
  PromptSource prompts = as_usage_error("--input", [&] { return PromptSource(options.input); });
  Model model = load(recipe, options);
  const std::int64_t T = recipe.model->context_length;
  Session session = session_of(model, options, options.batch, T, T);
  JsonLines lines(*model.tokenizer, options.samples);
  Requests requests(
      [&]() -> std::optional<std::vector<std::int32_t>> {
        auto record = prompts.next();
        if (!record) return std::nullopt;
        lines.add_id(std::move(record->id));
        return prompt_ids(*model.tokenizer, record->prompt, model.settings.stop_ids);
      },
      options.samples);
  write_lines(session, model, lines, requests);
  return 0;
}

}  // namespace

void GenerateOptions::add_to(CLI::App& app) {
  CheckpointOptions::add_to(app);
  auto* const argument = app.add_option("--prompt", prompt, "text to continue");
  auto* const file = app.add_option("--prompt-file", prompt_file, "file of it")->excludes(argument);
  app.add_option("--input", input, "file of JSON Lines, each with a \"prompt\"; - for standard input")
      ->excludes(argument)
      ->excludes(file);
  add_number(app, "--max-tokens", settings.max_tokens, "tokens to write", {1, std::int64_t{1} << 40})
      ->capture_default_str();
  app.add_option("--stop", settings.stop_texts, "ends before the first of these texts that comes; may be given again")
      ->allow_extra_args(false)
      ->check(refuse_empty);
  app.add_option("--stop-id", more_stop_ids, "ends before the token with this id, too; may be given again")
      ->allow_extra_args(false)
      ->check(check_id_text);
  app.add_flag("--ignore-end", ignores_stop_ids, "writes on behind the tokens that end a text");

  SamplingSettings& sampling = settings.sampling;
  auto* const most_probable = app.add_flag("--greedy", greedy, "always the most probable token: nothing is chosen");
  for (CLI::Option* const of_choice :
       {add_number(app, "--temperature", sampling.temperature, "of the probabilities", {1e-6, 1e6})
            ->capture_default_str(),
        add_number(app, "--top-k", sampling.top_k, "choose among the k most probable tokens", {.least = 1}),
        add_number(app, "--top-p", sampling.top_p, "choose among the tokens that make up this probability", {1e-9, 1}),
        add_number(app, "--min-p", sampling.min_p,
                   "choose among the tokens with this share of the most probable one's probability", {0, 1})})
    of_choice->excludes(most_probable);
  add_number(app, "--repetition-penalty", sampling.repetition_penalty,
             "divides the logits of tokens that prompt or text have", {1e-2, 1e2})
      ->capture_default_str();
  add_number(app, "--frequency-penalty", sampling.frequency_penalty,
             "taken from a token's logit for each time that the text has it", {-100, 100})
      ->capture_default_str();
  add_number(app, "--presence-penalty", sampling.presence_penalty, "taken once if the text has it", {-100, 100})
      ->capture_default_str();
  app.add_option("--logit-bias", logit_bias, "ID=BIAS: added to the logit of a token; may be given again")
      ->allow_extra_args(false)
      ->check(check_logit_bias);
  add_number(app, "--seed", sampling.seed, "of the choice")->capture_default_str();
  add_number(app, "--samples", samples, "texts for each prompt, as JSON Lines if there are several", {1, 10'000})
      ->capture_default_str();
  add_number(app, "--log-probabilities", settings.log_probabilities,
             "of each token, and of so many of the most probable in its place, as JSON Lines", {0, 1000});
  add_number(app, "--batch", batch, "texts at a time", {1, 1024})->capture_default_str();
  add_number(app, "--cache-tokens", cache_tokens, "that the texts at a time have together, with their prompts",
             {.least = 1, .most = std::int64_t{1} << 40});
}

int run_generate(const RecipeProgram& recipe, const GenerateOptions& options) {
  check_predicts(recipe);
  return options.input.empty() ? continue_one(recipe, options) : continue_all(recipe, options);
}

}  // namespace monomorph::train
