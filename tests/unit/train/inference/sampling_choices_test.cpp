#include "train/inference/sampling_choices.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

SamplingChoices of_file(const std::string& json) {
  const TemporaryFolder folder;
  write_bytes(folder / "generation_config.json", json);
  return sampling_of_model(folder.path());
}

}  // namespace

TEST_CASE("how a model's makers want texts drawn holds where nobody says it otherwise") {
  const SamplingChoices of_model = of_file(
      R"({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "repetition_penalty": 1.05, "min_p": null})");
  CHECK(text_of(of_model) == "temperature 0.6, top_k 20, top_p 0.95, repetition_penalty 1.05");
  const SamplingChoices said{.temperature = 2, .min_p = 0.1};
  SamplingSettings settings{.temperature = 1, .top_p = 0.5, .frequency_penalty = 3};
  said.or_else(of_model).apply_to(settings);
  CHECK(settings.temperature == 2);
  CHECK(settings.top_k == 20);
  CHECK(settings.top_p == 0.95);
  CHECK(settings.min_p == 0.1);
  CHECK(settings.repetition_penalty == 1.05);
  CHECK(settings.frequency_penalty == 3);
  CHECK(text_of(said.unsaid_of(of_model)) == "top_k 20, top_p 0.95, repetition_penalty 1.05");
}

TEST_CASE("a model whose makers say nothing of it, or have no such file, leaves settings as they are") {
  const TemporaryFolder empty;
  for (const SamplingChoices& nothing :
       {sampling_of_model(empty.path()), of_file("{}"), of_file(R"({"eos_token_id": 7, "top_k": 0})"),
        of_file(R"({"top_k": -1, "temperature": null})")}) {
    CHECK(text_of(nothing).empty());
    SamplingSettings settings{.temperature = 0.5, .top_k = 3, .top_p = 0.25, .min_p = 0.125, .repetition_penalty = 2};
    nothing.apply_to(settings);
    CHECK(settings.temperature == 0.5);
    CHECK(settings.top_k == 3);
    CHECK(settings.top_p == 0.25);
    CHECK(settings.min_p == 0.125);
    CHECK(settings.repetition_penalty == 2);
  }
}

TEST_CASE("the most probable token may be asked for by top_p, and all of them by top_k") {
  SamplingSettings settings{.top_k = 3};
  of_file(R"({"top_p": 0})").apply_to(settings);
  CHECK(settings.top_p == 1e-9);
  CHECK(settings.top_k == 3);
  SamplingChoices{.top_k = 0}.or_else(of_file(R"({"top_k": 20})")).apply_to(settings);
  CHECK(!settings.top_k);
}

TEST_CASE("a generation_config.json that says what cannot be is refused by the file's name and the key") {
  for (const auto& [json, key] : {std::pair<std::string, std::string>{R"({"temperature": "hot"})", "temperature"},
                                  {R"({"temperature": -0.5})", "temperature"},
                                  {R"({"temperature": [1]})", "temperature"},
                                  {R"({"top_p": -0.1})", "top_p"},
                                  {R"({"top_p": 1.5})", "top_p"},
                                  {R"({"top_k": true})", "top_k"},
                                  {R"({"top_k": 1e300})", "top_k"},
                                  {R"({"min_p": 2})", "min_p"},
                                  {R"({"repetition_penalty": 0})", "repetition_penalty"}}) {
    const std::string message = error_of([&] { of_file(json); });
    CAPTURE(json, message);
    CHECK(message.starts_with("[RUN-29] "));
    CHECK(contains(message, "generation_config.json"));
    CHECK(contains(message, key));
  }
  for (const char* const json : {"", "[]", "{\"top_p\": 1e999}"}) {
    CAPTURE(json);
    CHECK(contains(error_of([&] { of_file(json); }), "is no JSON object"));
  }
}
