#include "train/commands/generate_command.hpp"

#include "train/commands/prompt_source.hpp"
#include "train/commands/text_model.hpp"
#include "train/run/as_usage_error.hpp"

#include <monomorph/core/text_file.hpp>

#include <algorithm>
#include <map>

namespace monomorph::train {
namespace {

using nlohmann::ordered_json;

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

/// Shows a text while it grows, behind its prompt.
void stream(Session& session, const TextModel& model, std::string_view prompt, Requests& requests) {
  show(prompt);
  generate(session, *model.tokenizer, model.settings,
           {.next = [&] { return requests.next(); }, .show = [](TextNumber, std::string_view more) { show(more); }});
  show("\n");
}

void write_lines(Session& session, const TextModel& model, JsonLines& lines, Requests& requests) {
  generate(session, *model.tokenizer, model.settings,
           {.next = [&] { return requests.next(); },
            .done = [&](TextNumber number, const GeneratedText& text) { lines.write(number, text); }});
}

int continue_one(const RecipeProgram& recipe, const GenerateOptions& options) {
  const std::string prompt = options.prompt_file.empty()
                                 ? options.prompt
                                 : as_usage_error("--prompt-file", [&] { return read_text_file(options.prompt_file); });
  TextModel model = load_text_model(recipe, options);
  std::optional<std::vector<std::int32_t>> ids = prompt_ids(*model.tokenizer, prompt, model.settings.stop_ids);
  const std::int64_t T = recipe.model->context_length, tokens = std::ssize(*ids),
                     longest = model.settings.max_tokens < T - tokens ? tokens + model.settings.max_tokens : T;
  Session session = session_of(model, options.cache_tokens, std::min(options.batch, options.samples), T, longest);
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
  TextModel model = load_text_model(recipe, options);
  const std::int64_t T = recipe.model->context_length;
  Session session = session_of(model, options.cache_tokens, options.batch, T, T);
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
  GenerationOptions::add_to(app);
  auto* const argument = app.add_option("--prompt", prompt, "text to continue");
  auto* const file = app.add_option("--prompt-file", prompt_file, "file of it")->excludes(argument);
  app.add_option("--input", input, "file of JSON Lines, each with a \"prompt\"; - for standard input")
      ->excludes(argument)
      ->excludes(file);
  add_number(app, "--samples", samples, "texts for each prompt, as JSON Lines if there are several", {1, 10'000})
      ->capture_default_str();
  add_number(app, "--log-probabilities", settings.log_probabilities,
             "of each token, and of so many of the most probable in its place, as JSON Lines", {0, 1000});
  add_number(app, "--batch", batch, "texts at a time", {1, 1024})->capture_default_str();
  add_number(app, "--cache-tokens", cache_tokens, "that the texts at a time have together, with their prompts",
             {.least = 1, .most = std::int64_t{1} << 40});
}

int run_generate(const RecipeProgram& recipe, const GenerateOptions& options) {
  check_predicts_next_token(recipe);
  return options.input.empty() ? continue_one(recipe, options) : continue_all(recipe, options);
}

}  // namespace monomorph::train
