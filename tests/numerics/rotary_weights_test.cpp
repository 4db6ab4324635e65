// Models with scaled rotary positions that Hugging Face's transformers wrote: tests/fixtures/weights/README.md.
#include "fixtures/weights/recipes/llama.hpp"
#include "fixtures/weights/recipes/llama_dynamic.hpp"
#include "fixtures/weights/recipes/llama_linear.hpp"
#include "fixtures/weights/recipes/llama_yarn_options.hpp"
#include "fixtures/weights/recipes/qwen3_yarn.hpp"
#include "support/error_of.hpp"
#include "support/training_program.hpp"
#include "train/weights/layers_fact.hpp"
#include "weights_check.hpp"

#include <functional>

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

using Features = train::BlockFeatures;
/// Layers, and what sets them apart, as a checkpoint says it.
train::LayerKind kind_of_layers(int count, std::string_view block, const std::function<void(Features&)>& describe) {
  train::LayerKind kind{.count = count, .name = block};
  describe(kind.features);
  return kind;
}
std::string layers_text(const std::vector<train::LayerKind>& layers) {
  return train::policy_facts(layers, {}, MeshSpec{}, nullptr).front().value;
}
/// A window, and angles with each scaling that there is.
template <class Attention> void describe_sight(Features& features) {
  features.add(type_name<Attention>());
  describe_rotary({.base = 500,
                   .scaling = {.factor = 4, .original_context = 8},
                   .linear = {.factor = 2},
                   .dynamic = {.original_context = 8, .factor = 3},
                   .yarn = {.factor = 8, .truncate = false}},
                  features);
}
template <MixtureSpec spec> void describe_experts(Features& features) {
  MixtureOfExperts<recipes::llama, spec>::template describe<recipes::llama>(features);
}
constexpr MixtureSpec some_experts{.n_experts = 4, .top_k = 2, .d_expert = 96},
    balanced{.n_experts = 4, .top_k = 2, .d_expert = 96, .balance_loss = 0.01, .z_loss = 0.001, .bias_rate = 0.002},
    balanced_less{.n_experts = 4, .top_k = 2, .d_expert = 96, .bias_rate = 0.001},
    limited{.n_experts = 4, .top_k = 2, .d_expert = 96, .capacity_factor = 1.25},
    more_experts{.n_experts = 8, .top_k = 2, .d_expert = 96};

/// An attention whose arguments have commas and brackets.
template <class... Others> struct Listed : attention::Causal {};

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
  train::RecipeProgram recipe = training_program<recipes::llama>();
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

TEST_CASE("of the text of layers what shapes parameters stays, and runs that differ in the rest are one") {
  using Window = attention::SlidingWindow<512>;
  using Nested = Listed<Listed<Window, attention::Causal>, Window>;
  const std::string block = "monomorph::DecoderBlock";
  const auto plain = [](Features&) {};
  CHECK(train::lasting_layers(layers_text({kind_of_layers(4, block, plain)})) == "4 x " + block);
  for (const auto& sight : {describe_sight<Window>, describe_sight<Nested>}) {
    const std::string text = layers_text(
        {kind_of_layers(2, block, sight), kind_of_layers(1, block, plain), kind_of_layers(3, block, sight)});
    CAPTURE(text);
    CHECK(train::lasting_layers(text) == "6 x " + block);
    const auto sized = [&](Features& features) {
      features.add("sandwich norm");
      sight(features);
      features.add_size("MLP", 96, 48);
    };
    CHECK(train::lasting_layers(layers_text({kind_of_layers(2, block, plain), kind_of_layers(3, block, sized)})) ==
          "2 x " + block + ", 3 x " + block + " (sandwich norm, MLP 96)");
  }
  const auto lasting = [&](const auto& describe) {
    return train::lasting_layers(layers_text({kind_of_layers(2, "monomorph::Mixture", describe)}));
  };
  const std::string router = "top 2 by softmax, normalised";
  CHECK(lasting(describe_experts<some_experts>) == "2 x monomorph::Mixture (4 experts of width 96, " + router + ")");
  CHECK(lasting(describe_experts<balanced>) ==
        "2 x monomorph::Mixture (4 experts of width 96, " + router + ", bias rate)");  // which are of the router
  CHECK(lasting(describe_experts<balanced_less>) == lasting(describe_experts<balanced>));
  CHECK(lasting(describe_experts<limited>) == lasting(describe_experts<some_experts>));
  CHECK(lasting(describe_experts<more_experts>) == "2 x monomorph::Mixture (8 experts of width 96, " + router + ")");
  for (const std::string other : {"", "absent", "x x x", "4 x", "99999999999999999999 x a", "2 x a ("})
    CHECK(train::lasting_layers(other) == other);
}

TEST_CASE("a run may start with other windows, rotary positions and balance of experts in layers, and an import not") {
  const TemporaryFolder folder;
  const auto with_layers = [](const std::vector<train::LayerKind>& layers) {
    train::RecipeProgram recipe = training_program<recipes::llama>();
    std::ranges::find(recipe.policies, "layers", &train::Fact::name)->value = layers_text(layers);
    return recipe;
  };
  const auto said = [&](const train::RecipeProgram& recipe, std::span<const std::string_view> may_differ,
                        std::vector<std::string>& notes) {
    return error_of([&] { notes = train::open_weights(folder / "imported", recipe, may_differ).notes; });
  };
  const std::string block = "monomorph::DecoderBlock";
  const auto plain = [](Features&) {};
  const auto sight = describe_sight<attention::SlidingWindow<512>>;
  train::import_weights(with_layers({kind_of_layers(2, block, plain)}), fixture("llama"), folder / "imported");
  const train::RecipeProgram local = with_layers({kind_of_layers(1, block, sight), kind_of_layers(1, block, plain)});
  std::vector<std::string> notes;
  CHECK(said(local, train::facts_that_training_changes(), notes) == "(no error)");
  REQUIRE(notes.size() == 1);
  CHECK(contains(notes.front(), "layers is 2 x monomorph::DecoderBlock there, and 1 x monomorph::DecoderBlock (mono"));
  CHECK(contains(said(local, train::facts_that_import_changes(), notes), "[WEIGHTS-08]"));
  for (const auto& layers :
       {std::vector{kind_of_layers(3, block, plain)}, std::vector{kind_of_layers(2, "monomorph::Mixture", plain)},
        std::vector{kind_of_layers(1, block, plain), kind_of_layers(1, block, describe_experts<some_experts>)}}) {
    const std::string refusal = said(with_layers(layers), train::facts_that_training_changes(), notes);
    CHECK(refusal.starts_with("[WEIGHTS-08]"));
    CHECK(contains(refusal, "layers is 2 x monomorph::DecoderBlock there"));
  }
}

}  // namespace monomorph
