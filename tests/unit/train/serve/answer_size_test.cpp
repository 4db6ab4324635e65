// How many tokens a text may have: what the model, the cache and the size of one answer leave.
#include "train/serve/answer_size.hpp"

#include "support/catch.hpp"
#include "train/serve/api_error.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>

using namespace monomorph;
using namespace monomorph::train;
using nlohmann::json;

namespace {

/// A model that is there but for its weights.
struct SizedModel {
  std::unique_ptr<const data::Tokenizer> tokenizer =
      data::read_tokenizer(MONOMORPH_SOURCE_DIR "/tests/fixtures/chat/tokenizer.json");
  ServedModel served;

  explicit SizedModel(std::optional<std::int64_t> cache_tokens = {})
      : served{.name = "model",
               .tokenizer = *tokenizer,
               .settings = {},
               .context_length = 4096,
               .chat_prompt = ChatPrompt(*tokenizer, data::TemplateChoice::named("chatml")),
               .cache_tokens = cache_tokens} {}

  CompletionRequest complete(const json& prompt, const json& more = json::object()) const {
    json body{{"prompt", prompt}};
    body.update(more);
    return read_completion(body.dump(), served);
  }
  CompletionRequest chat(const json& more = json::object()) const {
    json body{{"messages", {{{"role", "user"}, {"content", "Hot?"}}}}};
    body.update(more);
    return read_chat_completion(body.dump(), served);
  }
};

json prompt_of(std::size_t n_tokens) { return std::vector<int>(n_tokens, 20); }

/// The field that is refused, and why.
template <class Ask> std::string refused_field(const Ask& ask) {
  try {
    ask();
  } catch (const ApiError& error) {
    CHECK(error.status() == 400);
    return fmt::format("{}: {}", json::parse(error.json())["error"]["param"].get<std::string>(), error.what());
  }
  return "(none)";
}

}  // namespace

TEST_CASE("a client that says no number of tokens gets as many as the context and the cache have room for") {
  const SizedModel all, little(64), much(8192);
  const std::int64_t n_prompt = std::ssize(all.chat().prompts.front().ids);
  CHECK(all.chat().settings.max_tokens == 4096 + 1 - n_prompt);
  CHECK(much.chat().settings.max_tokens == 4096 + 1 - n_prompt);
  CHECK(little.chat().settings.max_tokens == 64 + 1 - n_prompt);
  CHECK(little.complete(prompt_of(40)).settings.max_tokens == 16);  // what is usual, where there is room for it
  CHECK(little.complete(prompt_of(60)).settings.max_tokens == 5);
  CHECK(little.complete({prompt_of(3), prompt_of(60)}).settings.max_tokens == 5);
  CHECK(little.complete(prompt_of(64)).settings.max_tokens == 1);
}

TEST_CASE("what a client asks for beyond the cache is refused with the field and with what there is") {
  const SizedModel little(64);
  CHECK(little.complete(prompt_of(60), {{"max_tokens", 5}}).settings.max_tokens == 5);
  CHECK(refused_field([&] {
          little.complete(prompt_of(60), {{"max_tokens", 6}});
        }) == "max_tokens: this server's cache has 64 tokens, and the prompt has 60, with max_tokens = 6 to follow");
  CHECK(refused_field([&] { little.complete(prompt_of(65)); }) ==
        "prompt: this server's cache has 64 tokens, and the prompt has 65");
  CHECK(refused_field([&] {
          little.chat({{"max_completion_tokens", 64}});
        }).starts_with("max_completion_tokens: this"));
  CHECK(refused_field([&] { little.complete(prompt_of(4097)); }).starts_with("prompt: the model's context has 4096"));
  CHECK(little.complete(prompt_of(64), {{"max_tokens", 0}, {"echo", true}}).settings.max_tokens == 0);
}

TEST_CASE("an answer has no more log-probabilities than it may, however many texts they are of") {
  const SizedModel model;
  const json scores{{"echo", true}, {"logprobs", 20}, {"max_tokens", 0}};
  const auto prompts = [](std::size_t number, std::size_t n_tokens) {
    return json(std::vector<json>(number, prompt_of(n_tokens)));
  };
  CHECK(CompletionRequest::most_log_probabilities == 262'144);  // which docs/reference/serve.md says
  CHECK(refused_field([&] { model.complete(prompts(3, 4000), scores); }) == "(none)");
  const std::string told = refused_field([&] { model.complete(prompts(4, 3200), scores); });
  CHECK(told.starts_with("logprobs: an answer may have 262144 log-probabilities"));
  CHECK(told.find("21 for each token of 4 texts") != std::string::npos);
  CHECK(refused_field([&] { model.complete(prompts(128, 3000), scores); }).starts_with("logprobs:"));
  json copies = scores;
  copies["n"] = 4;
  CHECK(refused_field([&] { model.complete(prompt_of(3200), copies); }).starts_with("logprobs:"));
  // A prompt that is not shown has none.
  CHECK(refused_field([&] { model.complete(prompts(4, 3200), {{"logprobs", 20}}); }) == "(none)");
  CHECK(refused_field([&] { model.complete(prompts(128, 3000), {{"echo", true}, {"max_tokens", 0}}); }) == "(none)");

  json chat{{"logprobs", true}, {"top_logprobs", 20}, {"n", 8}};
  CHECK(model.chat(chat).settings.max_tokens == 262'144 / 21 / 8);
  chat["max_tokens"] = 262'144 / 21 / 8;
  CHECK(refused_field([&] { model.chat(chat); }) == "(none)");
  chat["max_tokens"] = 262'144 / 21 / 8 + 1;
  CHECK(refused_field([&] { model.chat(chat); }).starts_with("logprobs:"));
  chat["stream"] = true;
  CHECK(refused_field([&] { model.chat(chat); }).starts_with("logprobs:"));
}
