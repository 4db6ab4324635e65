#include "train/serve/completion_request.hpp"

#include "core/json_text.hpp"
#include "train/inference/sampling_choices.hpp"
#include "train/serve/answer_shape.hpp"
#include "train/serve/answer_size.hpp"
#include "train/serve/api_error.hpp"
#include "train/serve/request_messages.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/number_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <random>

namespace monomorph::train {
namespace {

using nlohmann::json;

constexpr std::int64_t usual_completion_tokens = 16, most_stop_texts = 16, most_biases = 1024;

void check_model(RequestFields& fields, const ServedModel& model) {
  const auto name = fields.text("model");
  if (name && *name != model.name)
    throw ApiError(404, fmt::format("there is no model {}; this server has {}", *name, model.name), "model",
                   "model_not_found");
}

void check_id(const ServedModel& model, std::int64_t id, const std::string& field) {
  if (id >= 0 && id < model.tokenizer.vocab_size() && model.tokenizer.has_token(static_cast<std::int32_t>(id))) return;
  throw ApiError(400, fmt::format("{} names the token {}, which the model's tokeniser does not have", field, id),
                 field);
}

std::vector<std::string> stop_texts(RequestFields& fields) {
  const json* const stop = fields.find("stop");
  if (stop == nullptr) return {};
  const json list = stop->is_array() ? *stop : json::array({*stop});
  std::vector<std::string> texts;
  for (const json& text : list) {
    if (!text.is_string() || text.get_ref<const std::string&>().empty() || std::ssize(list) > most_stop_texts)
      throw ApiError(400, fmt::format("stop must be a string or up to {} of them, none empty", most_stop_texts),
                     "stop");
    texts.push_back(text.get<std::string>());
  }
  return texts;
}

void add_logit_bias(RequestFields& fields, const ServedModel& model, std::vector<LogitBias>& biases) {
  const json* const object = fields.find("logit_bias");
  if (object == nullptr) return;
  if (!object->is_object() || std::ssize(*object) > most_biases)
    throw ApiError(400, fmt::format("logit_bias must be an object of up to {} ids and biases", most_biases),
                   "logit_bias");
  for (const auto& [text, bias] : object->items()) {
    const auto id = number_from<std::int64_t>(text);
    if (!id || !bias.is_number() || !(bias.get<double>() >= -100 && bias.get<double>() <= 100))
      throw ApiError(400, "logit_bias must have ids of tokens with biases from -100 to 100", "logit_bias");
    check_id(model, *id, "logit_bias");
    biases.push_back({static_cast<std::int32_t>(*id), bias.get<double>()});
  }
}

std::uint64_t random_seed() {
  std::random_device device;
  return (std::uint64_t{device()} << 32) | device();
}

void read_sampling(RequestFields& fields, const ServedModel& model, SamplingSettings& sampling) {
  sampling.temperature = fields.number("temperature", 0, 2).value_or(sampling.temperature);
  if (sampling.temperature < 1e-6) sampling.temperature = 0;
  sampling.top_p = fields.number("top_p", 0, 1).value_or(sampling.top_p);
  sampling.top_p = std::max(sampling.top_p, least_top_p);
  sampling.min_p = fields.number("min_p", 0, 1).value_or(sampling.min_p);
  if (const auto top_k = fields.integer("top_k", -1, INT32_MAX)) sampling.top_k = top_k_of(*top_k);
  sampling.repetition_penalty = fields.number("repetition_penalty", 0.01, 100).value_or(sampling.repetition_penalty);
  sampling.frequency_penalty = fields.number("frequency_penalty", -2, 2).value_or(0);
  sampling.presence_penalty = fields.number("presence_penalty", -2, 2).value_or(0);
  add_logit_bias(fields, model, sampling.logit_bias);
  const auto seed = fields.integer("seed", INT64_MIN, INT64_MAX);
  sampling.seed = seed ? static_cast<std::uint64_t>(*seed) : random_seed();
}

void read_stream(RequestFields& fields, CompletionRequest& request) {
  request.stream = fields.flag("stream").value_or(false);
  const json* const object = fields.find("stream_options");
  if (object == nullptr) return;
  if (!request.stream) throw ApiError(400, "stream_options goes with stream", "stream_options");
  RequestFields options(*object, "stream_options");
  request.include_usage = options.flag("include_usage").value_or(false);
  options.refuse_unless("include_obfuscation", {false});
  options.finish();
}

/// All that both kinds of requests have. Prompts are known by now.
CompletionRequest read_common(RequestFields& fields, const ServedModel& model) {
  CompletionRequest request;
  check_model(fields, model);
  request.settings = model.settings;
  request.settings.stop_texts = stop_texts(fields);
  read_sampling(fields, model, request.settings.sampling);
  read_stream(fields, request);
  request.samples = fields.integer("n", 1, CompletionRequest::most_texts).value_or(1);
  fields.text("user");
  return request;
}

/// What the tokeniser or the template says of a request is the client's to mend.
template <class Make> auto of_client(const char* field, const Make& make) {
  try {
    return make();
  } catch (const Error& error) {
    throw ApiError(400, error.what(), field);
  }
}

ServedPrompt prompt_of_text(const ServedModel& model, const std::string& text) {
  auto ids = of_client("prompt", [&] { return prompt_ids(model.tokenizer, text, model.settings.text_ends); });
  const std::size_t n_before = text.empty() ? ids.size() : model.tokenizer.ids_before_text().size();
  return {std::move(ids), text, n_before};
}

ServedPrompt prompt_of_ids(const ServedModel& model, const json& list) {
  ServedPrompt prompt;
  for (const json& id : list) {
    if (!id.is_number_integer()) throw ApiError(400, "prompt mixes ids of tokens with something else", "prompt");
    check_id(model, id.is_number_unsigned() && id.get<std::uint64_t>() > INT32_MAX ? -1 : id.get<std::int64_t>(),
             "prompt");
    prompt.ids.push_back(id.get<std::int32_t>());
  }
  if (prompt.ids.empty()) throw ApiError(400, "prompt has a list without ids of tokens", "prompt");
  prompt.text = model.tokenizer.decode(prompt.ids, true);  // special tokens show nothing, as in what is generated
  return prompt;
}

/// A string, ids of tokens, or a list of either.
std::vector<ServedPrompt> read_prompts(RequestFields& fields, const ServedModel& model) {
  const json* const value = fields.find("prompt");
  const std::string wrong = "prompt must be a string, a list of ids of tokens, or a list of either";
  if (value == nullptr) throw ApiError(400, wrong, "prompt");
  if (value->is_string()) return {prompt_of_text(model, value->get_ref<const std::string&>())};
  if (!value->is_array() || value->empty()) throw ApiError(400, wrong, "prompt");
  if (value->front().is_number()) return {prompt_of_ids(model, *value)};
  if (std::ssize(*value) > CompletionRequest::most_texts)
    throw ApiError(400, fmt::format("prompt may have {} texts", CompletionRequest::most_texts), "prompt");
  std::vector<ServedPrompt> prompts;
  for (const json& prompt : *value) {
    if (!prompt.is_string() && !prompt.is_array()) throw ApiError(400, wrong, "prompt");
    prompts.push_back(prompt.is_string() ? prompt_of_text(model, prompt.get_ref<const std::string&>())
                                         : prompt_of_ids(model, prompt));
  }
  return prompts;
}

/// In the order in which the client has them.
data::TemplateVariables template_variables(RequestFields& fields, const std::string& body, const ServedModel& model) {
  constexpr const char* field = "chat_template_kwargs";
  const json* const object = fields.find(field);
  if (object == nullptr || *object == json::object()) return {};
  if (!object->is_object()) throw ApiError(400, "chat_template_kwargs must be an object", field);
  if (!model.chat_prompt.takes_variables())
    throw ApiError(400,
                   "the model's chat template is none in Jinja, and has no variables; leave chat_template_kwargs out, "
                   "or start the server with --template and one that has",
                   field, "unsupported_parameter");
  return of_client(field, [&] {
    const data::jinja::Value whole = data::jinja::value_of_json(body, "the request's body");
    return data::template_variables_in(*whole.dict()->find(std::string_view(field)), field);
  });
}

ServedPrompt prompt_of_chat(RequestFields& fields, const std::string& body, const ServedModel& model,
                            const data::jinja::Value& tools) {
  const std::vector<PromptMessage> messages = read_messages(fields);
  if (!model.chat_prompt.known())
    throw ApiError(
        400,
        "the model has no chat template of its own, and its tokeniser lacks the special tokens of those known here; "
        "use /v1/completions, or start the server with --template",
        "messages");
  const data::TemplateVariables variables = template_variables(fields, body, model);
  return {of_client("messages", [&] { return model.chat_prompt.ids(messages, tools, variables); }), ""};
}

}  // namespace

CompletionRequest read_completion(const std::string& body, const ServedModel& model) {
  RequestFields fields(body);
  CompletionRequest request = read_common(fields, model);
  request.prompts = read_prompts(fields, model);
  request.log_probabilities = fields.integer("logprobs", 0, CompletionRequest::most_alternatives);
  request.echo = fields.flag("echo").value_or(false);
  const auto most = fields.integer("max_tokens", 0, INT32_MAX);
  fields.refuse_unless("suffix", {""});
  fields.refuse_unless("best_of", {1, request.samples});
  fields.finish();
  if (most == 0 && !request.echo)
    throw ApiError(400, "max_tokens of 0 leaves nothing to answer without echo", "max_tokens");
  set_most_tokens(request, model, {"max_tokens", most, usual_completion_tokens});
  return request;
}

CompletionRequest read_chat_completion(const std::string& body, const ServedModel& model) {
  RequestFields fields(body);
  CompletionRequest request = read_common(fields, model);
  request.chat = true;
  request.settings.is_turn = true;
  AnswerShape shape = read_answer_shape(fields, body, model);
  request.tools = std::move(shape.callable);
  request.one_call = shape.one_call;
  request.named_call = shape.named_call;
  request.settings.constraint = std::move(shape.constraint);
  request.prompts = {prompt_of_chat(fields, body, model, shape.offered)};
  const bool wants = fields.flag("logprobs").value_or(false);
  const auto alternatives = fields.integer("top_logprobs", 0, CompletionRequest::most_alternatives);
  if (alternatives && !wants) throw ApiError(400, "top_logprobs goes with logprobs", "top_logprobs");
  if (wants) request.log_probabilities = alternatives.value_or(0);
  const auto older = fields.integer("max_tokens", 1, INT32_MAX);
  const auto newer = fields.integer("max_completion_tokens", 1, INT32_MAX);
  fields.refuse_unless("functions", {json::array()});
  fields.refuse_unless("function_call", {"none"});
  fields.refuse_unless("modalities", {json::array({"text"})});
  fields.refuse_unless("service_tier", {"auto", "default"});
  fields.refuse_unless("store", {false});
  fields.refuse_unless("metadata", {json::object()});
  for (const char* const name : {"audio", "prediction", "reasoning_effort", "verbosity", "web_search_options"})
    fields.refuse_unless(name, {});
  fields.finish();
  set_most_tokens(request, model,
                  {newer ? "max_completion_tokens" : "max_tokens", newer ? newer : older, std::nullopt});
  return request;
}

}  // namespace monomorph::train
