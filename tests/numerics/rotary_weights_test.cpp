// Models with scaled rotary positions that Hugging Face's transformers wrote: tests/fixtures/weights/README.md.
#include "fixtures/weights/recipes/llama.hpp"
#include "fixtures/weights/recipes/llama_dynamic.hpp"
#include "fixtures/weights/recipes/llama_linear.hpp"
#include "fixtures/weights/recipes/llama_yarn_options.hpp"
#include "fixtures/weights/recipes/qwen3_yarn.hpp"
#include "support/error_of.hpp"
#include "weights_check.hpp"

namespace monomorph {
namespace {

using namespace testing;
using Json = nlohmann::json;

/// Rows are longer than the context that the folder names, so that positions are scaled.
struct llama_dynamic_longer : recipes::llama_dynamic {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = recipes::llama_dynamic::model;
    model.context_length = 24;
    return model;
  }();
};

/// What a config.json with this rope_scaling says.
train::PortableModel with_scaling(const Json& rope_scaling) {
  const train::Family& llama = *train::find_family("llama");
  Json config = train::config_of(llama, llama.base);
  config["max_position_embeddings"] = 4096;
  config["rope_scaling"] = rope_scaling;
  return train::model_from(llama, config, "config.json");
}

void check_refused(const Json& rope_scaling, const std::string& id, const std::string& reason) {
  const std::string message = error_of([&] { with_scaling(rope_scaling); });
  CAPTURE(rope_scaling.dump(), message);
  CHECK(message.starts_with(id));
  CHECK(contains(message, "rope_scaling"));
  CHECK(contains(message, reason));
  CHECK_FALSE(contains(message, "\n"));
}

}  // namespace

TEST_CASE("Llama with linear scaling travels") { check_travels<recipes::llama_linear>("llama_linear"); }
TEST_CASE("Llama with dynamic scaling travels, and is scaled in a longer context") {
  check_travels<llama_dynamic_longer>("llama_dynamic", "model.context_length is 16 there, and 24 here");
}
TEST_CASE("Llama with every option of YaRN travels") {
  check_travels<recipes::llama_yarn_options>("llama_yarn_options");
}
TEST_CASE("Qwen3 with YaRN travels") { check_travels<recipes::qwen3_yarn>("qwen3_yarn"); }

TEST_CASE("a run may start with another scaling, which is said by name, and an import may not") {
  train::RecipeProgram recipe = detail::program_of<recipes::llama>();
  DecoderSpec scaled = recipes::llama::model;
  scaled.rotary.linear.factor = 2.5;
  recipe.model = &scaled;
  const auto opened = train::open_weights(fixture("llama"), recipe, train::facts_that_training_changes());
  REQUIRE(opened.notes.size() == 1);
  CHECK(contains(opened.notes.front(), "model.rotary.linear.factor is absent there, and 2.5 here"));
  const std::string refusal =
      error_of([&] { train::open_weights(fixture("llama"), recipe, train::facts_that_import_changes()); });
  CHECK(refusal.starts_with("[WEIGHTS-08]"));
  CHECK(contains(refusal, "model.rotary.linear.factor"));
}

TEST_CASE("the attention factor of a config.json follows from mscale and mscale_all_dim, as in transformers") {
  const auto expected =
      runtime::SafetensorsFile::open(MONOMORPH_SOURCE_DIR "/tests/fixtures/rotary/frequencies.safetensors");
  Json scaling{{"rope_type", "yarn"}, {"factor", 40.0}, {"mscale", 0.707}, {"mscale_all_dim", 1.0}};
  const auto attention_factor = [&] { return with_scaling(scaling).model.rotary.yarn.attention_factor; };
  CHECK(attention_factor().value == Approx(values_of(expected, "yarn_mscale.attention_factor")[0]).epsilon(1e-6));
  scaling["mscale_all_dim"] = 0;  // as if it were not there
  CHECK_FALSE(attention_factor().given);
}

TEST_CASE("what a config.json leaves out of its rope_scaling is as transformers has it") {
  const RotarySpec yarn = with_scaling({{"type", "yarn"}, {"factor", 4}, {"beta_fast", nullptr}}).model.rotary;
  CHECK(yarn == RotarySpec{.yarn = {.factor = 4, .original_context = 4096}});
  const RotarySpec dynamic = with_scaling({{"rope_type", "dynamic"}, {"factor", 1.0}}).model.rotary;
  CHECK(dynamic == RotarySpec{.dynamic = {.original_context = 4096}});
  for (const char* const kind : {"default", "linear", "yarn"}) {
    Json scaling{{"rope_type", kind}};
    if (kind != std::string("default")) scaling["factor"] = 1.0;
    CHECK(with_scaling(scaling).model.rotary == RotarySpec{});
  }
}

TEST_CASE("a rope_scaling that no recipe can have is refused in one line") {
  for (const char* const kind : {"linear", "dynamic", "yarn"}) {
    for (const double factor : {0.0, -2.0, 0.5, 1e300})
      check_refused({{"rope_type", kind}, {"factor", factor}}, "[WEIGHTS-04]", "its factor must be at least 1");
    for (const Json& factor : {Json("4"), Json(nullptr), Json(true), Json::array()})
      check_refused({{"rope_type", kind}, {"factor", factor}}, "[WEIGHTS-03]", "factor");
    check_refused({{"rope_type", kind}}, "[WEIGHTS-03]", kind);
    check_refused({{"rope_type", kind}, {"factor", 2}, {"short_factor", 1}}, "[WEIGHTS-04]", "short_factor");
  }
  const auto yarn = [](const char* key, const Json& value) {
    return Json{{"rope_type", "yarn"}, {"factor", 4}, {key, value}};
  };
  for (const char* const key : {"attention_factor", "beta_fast", "beta_slow", "mscale"}) {
    check_refused(yarn(key, -1), "[WEIGHTS-04]", std::string("its ") + key + " must be above 0");
    check_refused(yarn(key, "1"), "[WEIGHTS-03]", key);
  }
  check_refused(yarn("attention_factor", 0), "[WEIGHTS-04]", "attention_factor must be above 0");
  check_refused(yarn("beta_fast", 0.5), "[WEIGHTS-04]", "beta_slow must be below its beta_fast");
  check_refused(yarn("truncate", 1), "[WEIGHTS-03]", "truncate");
  check_refused(yarn("original_max_position_embeddings", 0), "[WEIGHTS-04]", "original_max_position_embeddings");
  check_refused({{"rope_type", "dynamic"}, {"factor", 2}, {"original_max_position_embeddings", 2048}}, "[WEIGHTS-04]",
                "must be max_position_embeddings");
  check_refused({{"rope_type", "longrope"}, {"factor", 2}}, "[WEIGHTS-04]", "must be default, linear, dynamic");
  check_refused({{"rope_type", "yarn"}, {"type", "linear"}, {"factor", 2}}, "[WEIGHTS-04]", "must be the same");
  check_refused({{"rope_type", 7}}, "[WEIGHTS-03]", "7");
  check_refused({{"factor", 2}}, "[WEIGHTS-03]", "factor");
  check_refused("linear", "[WEIGHTS-03]", "linear");
  for (const double low : {0.0, -1.0, 4.0})
    check_refused({{"rope_type", "llama3"},
                   {"factor", 8},
                   {"low_freq_factor", low},
                   {"high_freq_factor", 4},
                   {"original_max_position_embeddings", 64}},
                  "[WEIGHTS-04]", "low_freq_factor");
}

}  // namespace monomorph
