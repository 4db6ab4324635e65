#include "train/weights/family.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/temporary_folder.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/train/weights/recipe_header.hpp>

#include <filesystem>
#include <initializer_list>
#include <utility>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace {

using Json = nlohmann::json;

const std::filesystem::path folders = MONOMORPH_SOURCE_DIR "/tests/fixtures/weights";

Json config_with(const std::string& name, const Json& patch = Json::object()) {
  Json config = Json::parse(read_bytes((folders / "newer_configs" / (name + ".json")).string()));
  config.merge_patch(patch);
  return config;
}
ModelFacts facts_with(const Family& family, const std::string& name, const Json& patch = Json::object()) {
  return facts_of(model_from(family, config_with(name, patch), "config.json"));
}
std::string refusal_of(const Family& family, const std::string& name, const Json& patch) {
  return error_of([&] { model_from(family, config_with(name, patch), "config.json"); });
}

}  // namespace

TEST_CASE("a config.json of transformers 5 has the recipe that transformers 4 wrote it for") {
  int compared = 0;
  for (const auto& newer : std::filesystem::directory_iterator(folders / "newer_configs")) {
    const std::string name = newer.path().stem().string();
    CAPTURE(name);
    const TemporaryFolder folder;
    write_bytes(folder / "config.json", read_bytes(newer.path().string()));
    CHECK(recipe_header(folder / ".", "a_model") == recipe_header((folders / name).string(), "a_model"));
    ++compared;
  }
  CHECK(compared == 34);
}

TEST_CASE("the recipe of a folder keeps texts to themselves in every layer, if asked to") {
  const auto header = [](const char* name) { return recipe_header((folders / name).string(), "a_model", true); };
  CHECK(contains(header("llama"), "using attention = monomorph::attention::WithinDocuments;"));
  CHECK(contains(header("mistral"),
                 "using attention = monomorph::attention::PerDocument<monomorph::attention::"
                 "SlidingWindow<"));
  const std::string gemma = header("gemma3");
  CHECK(contains(gemma, "using attention = monomorph::attention::WithinDocuments;"));
  CHECK(
      contains(gemma, "DecoderBlockWith<\n    monomorph::attention::PerDocument<monomorph::attention::SlidingWindow<"));
  CHECK(header("bert") == recipe_header((folders / "bert").string(), "a_model"));
}

TEST_CASE("what published files note beside a model changes nothing, and a feature that they switch on is refused") {
  const ModelFacts usual = facts_with(llama, "llama");
  for (const Json& noted :
       {Json{{"is_llama_config", true}, {"rope_interleaved", false}, {"transformers.js_config", {}}},
        Json{{"unsloth_fixed", true}, {"_num_labels", 5}, {"max_sequence_length", 2048}},
        Json{{"use_mrope", false}, {"gradient_checkpointing", false}}})
    CHECK(facts_with(llama, "llama", noted) == usual);
  const Json older{{"output_past", true}, {"_flash_attn_2_enabled", true}},
      of_deepset{{"language", "english"}, {"name", "Bert"}};
  CHECK(facts_with(llama, "llama", older) == usual);
  CHECK(facts_with(gpt2, "gpt2", {{"n_special", 0}, {"predict_special_tokens", true}}) == facts_with(gpt2, "gpt2"));
  CHECK(facts_with(bert, "bert", of_deepset) == facts_with(bert, "bert"));
  CHECK(facts_with(roberta, "roberta", of_deepset) == facts_with(roberta, "roberta"));
  for (const std::string key : {"use_mrope", "rope_interleaved"}) {
    const std::string refusal = refusal_of(llama, "llama", {{key, true}});
    CHECK(refusal.starts_with("[WEIGHTS-04]"));
    CHECK(contains(refusal, key + ": true"));
  }
}

TEST_CASE("a Mixtral whose router chooses one expert or all is refused") {
  CHECK(contains(refusal_of(mixtral, "mixtral", {{"num_experts_per_tok", 1}}), "always be 1"));
  CHECK(contains(refusal_of(mixtral, "mixtral", {{"num_experts_per_tok", 4}}), "must have some to leave out"));
}

TEST_CASE("rope_parameters may say less, or stand beside older keys that say the same") {
  const ModelFacts usual = facts_with(llama, "llama"), scaled = facts_with(llama, "llama_options");
  CHECK(usual != scaled);
  Json config = config_with("llama");
  for (const Json& less : {Json(nullptr), Json::object(), Json{{"rope_theta", 1e4}}, Json{{"rope_type", "default"}}}) {
    config["rope_parameters"] = less;
    CHECK(facts_of(model_from(llama, config, "config.json")) == usual);
  }
  CHECK(facts_with(llama, "llama", {{"rope_theta", 10000}}) == usual);
  const Json llama3 = config_with("llama_options").at("rope_parameters");
  Json scaling = llama3;
  scaling.erase("rope_theta");
  CHECK(facts_with(llama, "llama_options", {{"rope_theta", 500}, {"rope_scaling", scaling}}) == scaled);
  CHECK(facts_with(llama, "llama_options", {{"rope_theta", 500}, {"rope_parameters", {{"rope_theta", nullptr}}}}) ==
        scaled);  // a base that is in the older key alone

  CHECK(contains(refusal_of(llama, "llama", {{"rope_theta", 500}}),
                 "(beside it rope_theta and rope_scaling must say the same or be left out)"));
  const Json linear{{"rope_type", "linear"}, {"factor", 2}};
  CHECK(contains(refusal_of(llama, "llama", {{"rope_scaling", linear}}), "must say the same"));
  CHECK(contains(refusal_of(llama, "llama_options", {{"rope_scaling", linear}}), "must say the same"));
}

TEST_CASE("rope_parameters that no recipe can have are refused in one line") {
  const auto refusal = [](const Json& parameters) {
    Json config = config_with("llama");
    config["rope_parameters"] = parameters;
    const std::string message = error_of([&] { model_from(llama, config, "config.json"); });
    CHECK(contains(message, "rope_parameters"));
    CHECK_FALSE(contains(message, "\n"));
    return message;
  };
  for (const Json& other : {Json("linear"), Json(4), Json::array(), Json(true), Json{{"rope_theta", "1e4"}},
                            Json{{"rope_type", 7}}, Json{{"rope_type", "linear"}}})
    CHECK(refusal(other).starts_with("[WEIGHTS-03]"));
  for (const auto& [parameters, reason] : std::initializer_list<std::pair<Json, const char*>>{
           {{{"rope_theta", 1.0}}, "it must be above 1"},
           {{{"rope_theta", 500.0}, {"partial_rotary_factor", 0.5}}, "no recipe has its partial_rotary_factor"},
           {{{"rope_type", "longrope"}}, "its rope_type must be default, linear"},
           {{{"full_attention", {{"rope_theta", 500.0}}}}, "no recipe has its full_attention"},
           {{{"rope_type", "linear"}, {"factor", 0.5}}, "its factor must be at least 1"}}) {
    const std::string message = refusal(parameters);
    CHECK(message.starts_with("[WEIGHTS-04]"));
    CHECK(contains(message, reason));
  }
}

TEST_CASE("rope_parameters of a Gemma 3 are by the types of layers, of which one may be left out") {
  const ModelFacts whole = facts_with(gemma3, "gemma3");
  const auto with = [](const Json& parameters, const Json& older = Json::object()) {
    Json config = config_with("gemma3", older);
    config["rope_parameters"] = parameters;
    return config;
  };
  const Json full{{"rope_type", "linear"}, {"factor", 2}, {"rope_theta", 1000}}, local{{"rope_theta", 100}};
  const auto facts = [](const Json& config) { return facts_of(model_from(gemma3, config, "config.json")); };
  CHECK(facts(with({{"full_attention", full}, {"sliding_attention", local}})) == whole);
  CHECK(facts(with({{"full_attention", full}}, {{"rope_local_base_freq", 100}})) == whole);
  CHECK(facts(with({{"sliding_attention", local}, {"full_attention", nullptr}},
                   {{"rope_theta", 1000}, {"rope_scaling", {{"rope_type", "linear"}, {"factor", 2}}}})) == whole);
  const auto refusal = [](const Json& config) { return error_of([&] { model_from(gemma3, config, "config.json"); }); };
  CHECK(contains(refusal(with({{"full_attention", full}, {"sliding_attention", local}}, {{"rope_local_base_freq", 7}})),
                 "must say the same"));
  CHECK(contains(refusal(with(full)), "its keys must be full_attention and sliding_attention"));
  CHECK(refusal(with(Json::array())).starts_with("[WEIGHTS-03]"));
  CHECK(refusal(with({{"full_attention", 7}})).starts_with("[WEIGHTS-03]"));
}

TEST_CASE("the recipe of a Gemma 3 says how its local layers are scaled") {
  const auto header_with = [](Json scaling) {
    scaling["rope_theta"] = 100;
    const TemporaryFolder folder;
    write_bytes(folder / "config.json",
                config_with("gemma3", {{"rope_parameters", {{"sliding_attention", scaling}}}}).dump());
    return recipe_header(folder / ".", "a_model");
  };
  const std::string turned = "monomorph::Rotated<monomorph::RotarySpec{.base = 100";
  CHECK(contains(header_with({{"rope_type", "default"}}), turned + "},"));
  CHECK(contains(header_with({{"rope_type", "linear"}, {"factor", 8}}), turned + ", .linear = {.factor = 8}},"));
  CHECK(contains(header_with({{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 8}}),
                 turned + ", .yarn = {.factor = 4, .original_context = 8}},"));
  CHECK(contains(header_with({{"rope_type", "llama3"},
                              {"factor", 4},
                              {"low_freq_factor", 1},
                              {"high_freq_factor", 4},
                              {"original_max_position_embeddings", 8}}),
                 turned + ", .scaling = {.factor = 4, .original_context = 8}},"));
}
