#include "train/commands/generation_options.hpp"

#include "core/as_usage_error.hpp"
#include "train/inference/stop_ids.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/number_text.hpp>

#include <fmt/format.h>

#include <cmath>
#include <limits>

namespace monomorph::train {
namespace {

constexpr std::int64_t most_tokens = std::int64_t{1} << 40;

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

}  // namespace

void GenerationOptions::add_to(CLI::App& app) {
  CheckpointOptions::add_to(app);
  add_number(app, "--max-tokens", max_tokens,
             usual_max_tokens ? fmt::format("tokens to write; {} if it is not given", *usual_max_tokens)
                              : "tokens to write; as many as the context has room for if it is not given",
             {1, most_tokens});
  app.add_option("--stop", settings.stop_texts, "ends before the first of these texts that comes; may be given again")
      ->allow_extra_args(false)
      ->check(refuse_empty);
  app.add_option("--stop-id", more_stop_ids, "ends before the token with this id, too; may be given again")
      ->allow_extra_args(false)
      ->check(check_id_text);
  app.add_flag("--ignore-end", ignores_stop_ids, "writes on behind the tokens that end a text");

  auto* const most_probable = app.add_flag("--greedy", greedy, "always the most probable token: nothing is chosen");
  for (CLI::Option* const of_choice :
       {add_number(app, "--temperature", sampling.temperature,
                   "of the probabilities; if it, one of the next three or the repetition penalty is not given, "
                   "generation_config.json beside the tokeniser says it; else it is 1, as top-p and the penalty are, "
                   "and top-k and min-p leave nothing out",
                   {1e-6, 1e6}),
        add_number(app, "--top-k", sampling.top_k, "choose among the k most probable tokens; 0 for all", {.least = 0}),
        add_number(app, "--top-p", sampling.top_p, "choose among the tokens that make up this probability",
                   {least_top_p, 1}),
        add_number(app, "--min-p", sampling.min_p,
                   "choose among the tokens with this share of the most probable one's probability", {0, 1})})
    of_choice->excludes(most_probable);
  add_number(app, "--repetition-penalty", sampling.repetition_penalty,
             "divides the logits of tokens that prompt or text have", {1e-2, 1e2});
  add_number(app, "--frequency-penalty", settings.sampling.frequency_penalty,
             "taken from a token's logit for each time that the text has it", {-100, 100})
      ->capture_default_str();
  add_number(app, "--presence-penalty", settings.sampling.presence_penalty, "taken once if the text has it",
             {-100, 100})
      ->capture_default_str();
  app.add_option("--logit-bias", logit_bias, "ID=BIAS: added to the logit of a token; may be given again")
      ->allow_extra_args(false)
      ->check(check_logit_bias);
  add_number(app, "--seed", settings.sampling.seed, "of the choice")->capture_default_str();
}

GenerationSettings GenerationOptions::settings_with(const data::Tokenizer& loaded, const SamplingChoices& of_model,
                                                    const std::string& folder,
                                                    std::optional<std::int32_t> turn_end) const {
  GenerationSettings result = settings;
  result.max_tokens = max_tokens.value_or(usual_max_tokens.value_or(most_tokens));
  sampling.or_else(of_model).apply_to(result.sampling);
  if (greedy) result.sampling.temperature = 0;
  result.text_ends = as_usage_error("the tokeniser's folder", [&] { return stop_ids(loaded, folder, turn_end); });
  if (!ignores_stop_ids) result.stop_ids = result.text_ends;
  for (const std::string& text : more_stop_ids) {
    result.stop_ids.push_back(*id_of(text));
    check_id(loaded, "--stop-id", result.stop_ids.back());
  }
  for (const std::string& text : logit_bias) {
    result.sampling.logit_bias.push_back(*logit_bias_of(text));
    check_id(loaded, "--logit-bias", result.sampling.logit_bias.back().id);
  }
  exclude_ids_without_token(loaded, result.sampling.logit_bias);
  return result;
}

}  // namespace monomorph::train
