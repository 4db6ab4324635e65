// Adapters that Hugging Face's peft wrote (tests/fixtures/adapters/README.md), imported, merged, exported and imported
// again, and what of them is refused.
#include "fixtures/weights/recipes/gpt2.hpp"
#include "fixtures/weights/recipes/llama.hpp"
#include "fixtures/weights/recipes/qwen3.hpp"
#include "numerics/adapters_check.hpp"
#include "runtime/files/checkpoint_metadata.hpp"
#include "support/error_of.hpp"
#include "support/training_program.hpp"
#include "train/describe/recipe_facts.hpp"

#include <monomorph/train/checkpoints/average.hpp>

#include <algorithm>
#include <cmath>
#include <functional>

namespace monomorph {
namespace {

using namespace testing;
using Json = nlohmann::json;

using llama_adapted =
    Adapted<recipes::llama,
            LowRankSpec{.rank = 4,
                        .alpha = 6,
                        .rank_stabilised = true,
                        .dropout = 0.1,
                        .targets = {.key = true, .output = true, .gate = true, .up = true, .down = true}}>;
using qwen3_adapted = Adapted<recipes::qwen3, LowRankSpec{.rank = 3, .alpha = 12}>;
using gpt2_adapted =
    Adapted<recipes::gpt2,
            LowRankSpec{.rank = 2,
                        .alpha = 3,
                        .targets = {.query = false, .value = false, .output = true, .up = true, .down = true}}>;

/// The fixture `llama`, changed before it is imported into a recipe.
struct ChangedAdapters {
  TemporaryFolder folder;
  train::RecipeProgram recipe = training_program<llama_adapted>();
  Json config = Json::parse(read_bytes(adapters("llama") + "/adapter_config.json"));
  std::string weights = read_bytes(adapters("llama") + "/adapter_model.safetensors");

  std::string refusal() {
    write_bytes(folder / "adapter_config.json", config.dump());
    write_bytes(folder / "adapter_model.safetensors", weights);
    return error_of([&] { train::import_weights(recipe, fixture("llama"), folder / "imported", folder.path()); });
  }
};
void check_refused(const std::string& id, const std::vector<std::string>& parts,
                   const std::function<void(ChangedAdapters&)>& change) {
  ChangedAdapters changed;
  change(changed);
  const std::string message = changed.refusal();
  CAPTURE(message);
  CHECK(message.starts_with("[" + id + "]"));
  CHECK(message.find('\n') == std::string::npos);
  for (const std::string& part : parts) CHECK(contains(message, part));
}
void check_key_refused(const std::string& key, const Json& value, const std::string& part) {
  CAPTURE(key);
  check_refused("ADAPTER-02", {part}, [&](ChangedAdapters& changed) { changed.config[key] = value; });
}

}  // namespace

TEST_CASE("adapters of a Llama travel, merged and alone") {
  check_travels_adapted<llama_adapted, recipes::llama>("llama");
}
TEST_CASE("adapters of a Qwen 3 travel, merged and alone") {
  check_travels_adapted<qwen3_adapted, recipes::qwen3>("qwen3");
}
TEST_CASE("adapters of a GPT-2, whose files are transposed, travel, merged and alone") {
  check_travels_adapted<gpt2_adapted, recipes::gpt2>("gpt2");
}

TEST_CASE("merged weights are rounded once") {
  const train::RecipeProgram recipe = training_program<llama_adapted>();
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, fixture("llama"), folder / "imported", adapters("llama"));
  train::export_folder(recipe, imported.checkpoint, folder / "merged", {});
  const train::FolderTensors base(fixture("llama")), merged(folder / "merged");
  const auto of_adapters = runtime::SafetensorsFile::open(adapters("llama") + "/adapter_model.safetensors");
  const std::string weight = "model.layers.1.mlp.down_proj";
  const auto floats_of = [](const train::FolderTensors& tensors, const std::string& name) {
    return reinterpret_cast<const float*>(tensors.find(name)->file->data(*tensors.find(name)->entry));
  };
  const float* const before = floats_of(base, weight + ".weight");
  const float* const after = floats_of(merged, weight + ".weight");
  const Values a = values_of(of_adapters, "base_model.model." + weight + ".lora_A.weight"),
               b = values_of(of_adapters, "base_model.model." + weight + ".lora_B.weight");
  for (std::size_t row = 0; row < 32; ++row)
    for (std::size_t col = 0; col < 48; ++col) {
      double sum = before[row * 48 + col];
      for (std::size_t k = 0; k < 4; ++k) sum += b[row * 4 + k] * (6 / std::sqrt(4.0)) * a[k * 48 + col];
      CHECK(after[row * 48 + col] == static_cast<float>(sum));
    }
  // What has no adapter keeps its bits.
  CHECK(contents_of(folder / "merged").at("lm_head.weight") == contents_of(fixture("llama")).at("lm_head.weight"));
}

TEST_CASE("a run with adapters starts from weights that have none, or from all of its own") {
  const train::RecipeProgram recipe = training_program<llama_adapted>(), base = training_program<recipes::llama>();
  const auto opened = train::open_weights(fixture("llama"), recipe, train::facts_that_training_changes());
  CHECK(train::begins_adapters(*opened.source, recipe));
  train::check_tensors(*opened.source, recipe, {});
  Model<llama_adapted> adapted;
  Model<recipes::llama> plain;
  const Tensors initial = values_of(adapted.step.parameters());
  train::load_weights(*opened.source, {}, adapted.step);
  train::load_weights(*opened.source, {}, plain.step);
  const Tensors loaded = values_of(adapted.step.parameters()), of_base = values_of(plain.step.parameters());
  for (const auto& [name, values] : loaded) CHECK(values == (is_of_adapter(name) ? initial : of_base).at(name));
  CHECK(relative_error(adapted.outputs("llama"), plain.outputs("llama")) < 1e-12);

  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, fixture("llama"), folder / "imported", adapters("llama"));
  const auto with_adapters = train::open_weights(imported.checkpoint, recipe, train::facts_that_training_changes());
  CHECK_FALSE(train::begins_adapters(*with_adapters.source, recipe));
  train::check_tensors(*with_adapters.source, recipe, {});
  const std::string refused = error_of([&] {
    train::check_tensors(*train::open_weights(imported.checkpoint, base, train::facts_that_training_changes()).source,
                         base, {});
  });
  CAPTURE(refused);
  CHECK(refused.starts_with("[WEIGHTS-09]"));
  CHECK(contains(refused, "merges adapters"));
}

TEST_CASE("adapters that are not the recipe's are refused by what they differ in") {
  check_key_refused("r", 8, "r 8 there, and 4 in the recipe");
  check_key_refused("lora_alpha", 16, "lora_alpha 16 there, and 6 in the recipe");
  check_key_refused("lora_alpha", "16", "lora_alpha \"16\" there");
  check_key_refused("use_rslora", false, "use_rslora false there, and true in the recipe");
  check_key_refused("bias", "all", "bias \"all\"");
  check_key_refused("use_dora", true, "use_dora true, which no recipe has");
  for (const std::string key : {"arrow_config", "kasa_config", "monteclora_config"})
    check_key_refused(key, Json{{"rank", 2}}, key + " {\"rank\":2}, which no recipe has");
  for (const std::string way : {"pissa", "pissa_niter_4", "olora", "corda", "loftq"})
    check_key_refused("init_lora_weights", way, "init_lora_weights \"" + way + "\", which no recipe has");
  check_key_refused("rank_pattern", {{"q_proj", 2}}, "rank_pattern");
  check_key_refused("modules_to_save", Json::array({"lm_head"}), "modules_to_save [\"lm_head\"]");
  check_key_refused("layers_to_transform", Json::array({0}), "layers_to_transform");
  check_refused("ADAPTER-01", {"IA3"}, [](auto& changed) { changed.config["peft_type"] = "IA3"; });
  check_refused("ADAPTER-01", {"peft_type"}, [](auto& changed) { changed.config.erase("peft_type"); });
  check_refused("ADAPTER-01", {"no JSON object"}, [](auto& changed) { changed.config = Json::array(); });
  check_refused("ADAPTER-04", {"LowRank"}, [](auto& changed) { changed.recipe = training_program<recipes::llama>(); });
}

TEST_CASE("adapters that began in whatever way beside a base that stays as it is are taken") {
  for (const Json& way : {Json(), Json(true), Json(false), Json("eva"), Json("gaussian"), Json("orthogonal")}) {
    CAPTURE(way.dump());
    ChangedAdapters changed;
    changed.config["init_lora_weights"] = way;
    CHECK(changed.refusal() == "(no error)");
  }
}

TEST_CASE("of adapters what is missing, left over or of another shape is told, and files that are cut are refused") {
  const auto renamed = [](const std::string& from, const std::string& to) {
    return [=](ChangedAdapters& changed) { changed.weights.replace(changed.weights.find(from), from.size(), to); };
  };
  check_refused("WEIGHTS-09",
                {"layers.0.attention.q.lora_A is missing", "layers.9.self_attn.q_proj.lora_A.weight\" is not used",
                 "change LowRankSpec::targets"},
                renamed("layers.0.self_attn.q_proj.lora_A", "layers.9.self_attn.q_proj.lora_A"));
  check_refused("WEIGHTS-09", {"is [48, 4] and must be [4, 48]"}, renamed("\"shape\":[4,48]", "\"shape\":[48,4]"));
  check_refused("WEIGHTS-07", {"must be a matrix"}, renamed("\"shape\":[4,48]", "\"shape\":[192] "));
  check_refused("SAFETENSORS-06", {"adapter_model.safetensors"},
                [](auto& changed) { changed.weights.resize(changed.weights.size() / 2); });
  check_refused("SAFETENSORS-01", {}, [](auto& changed) { changed.weights.clear(); });
}

TEST_CASE("adapters of what no recipe has any for are refused by its name") {
  AdapterFile file("llama");
  for (const char* const name :
       {"a\n[FAKE-01].lora_A.weight", "lm_head.lora_A.weight", "lm_head.base_layer.weight",
        "model.embed_tokens.lora_embedding_B", "model.layers.0.block_sparse_moe.experts.3.w1.lora_B.weight",
        "model.layers.1.block_sparse_moe.experts.0.w1.lora_B.weight", "model.norm.weight"})
    file.matrices[std::string("base_model.model.") + name] = {1, 1, {0}};
  const TemporaryFolder folder;
  file.write_to(folder / "adapters");
  const std::string refused = error_of([&] {
    train::import_weights(training_program<llama_adapted>(), fixture("llama"), folder / "a", folder / "adapters");
  });
  CAPTURE(refused);
  CHECK(refused.starts_with("[ADAPTER-06]"));
  CHECK(contains(refused,
                 "are of \"a\\x0a[FAKE-01]\", \"lm_head\", \"model.embed_tokens\", "
                 "\"model.layers.#.block_sparse_moe.experts.#.w1\", \"model.norm\", too"));
}

TEST_CASE("a folder without adapters where a recipe has some, or with some where they are to be written, is refused") {
  const TemporaryFolder folder;
  const train::RecipeProgram recipe = training_program<llama_adapted>();
  CHECK(error_of([&] { train::import_weights(recipe, fixture("llama"), folder / "a"); }).starts_with("[ADAPTER-05]"));
  CHECK(error_of([&] {
          train::import_weights(recipe, fixture("llama"), folder / "a", folder.path());
        }).starts_with("[FILE-01]"));
  const auto imported = train::import_weights(recipe, fixture("llama"), folder / "b", adapters("llama"));
  train::export_adapters(recipe, imported.checkpoint, folder / "c", DType::fp32);
  CHECK(error_of([&] {
          train::export_adapters(recipe, imported.checkpoint, folder / "c", DType::fp32);
        }).starts_with("[WEIGHTS-06]"));
  train::RecipeProgram more = recipe;
  more.trains_tensor = [](int, const TensorInfo& tensor) { return tensor.parameter_class != ParameterClass::bias; };
  const std::string message =
      error_of([&] { train::export_adapters(more, imported.checkpoint, folder / "d", DType::fp32); });
  CHECK(message.starts_with("[ADAPTER-07] "));
  CHECK(contains(message, "trains embedding.weight beside its adapters"));
  CHECK_FALSE(std::filesystem::exists(folder / "d"));
}

TEST_CASE("adapters name the folder of their base where every run since is known to have trained adapters alone") {
  const train::RecipeProgram recipe = training_program<llama_adapted>();
  Model<llama_adapted> model;
  const TemporaryFolder folder;
  const auto trained = [&](const train::RecipeProgram& by, const std::string& name, const std::string& from) {
    train::Hparams hparams = train::default_hparams(by.hparams);
    hparams.weights.from.value = from;
    train::save_run(folder / name, {}, by, hparams, {.step = 1, .samples = 1}, {}, model.step, *model.communicator);
    return train::find_checkpoint(folder / name);
  };
  const auto base_of = [&](const std::string& checkpoint) {
    const TemporaryFolder place;
    train::export_adapters(recipe, checkpoint, place / "adapters", DType::fp32);
    return Json::parse(read_bytes(place / "adapters/adapter_config.json")).at("base_model_name_or_path");
  };
  // Of Nf4Base<LowRank> and of Nf4Base of a policy that trains norms as well the fact `finetuning` is the same.
  train::RecipeProgram quantized = recipe;
  std::ranges::find(quantized.policies, "finetuning", &train::Fact::name)->value = "monomorph::finetuning::Nf4Base";
  train::RecipeProgram with_norms = quantized;
  with_norms.trains_tensor = [](int, const TensorInfo& tensor) {
    return is_of_adapter(tensor.name) || tensor.parameter_class == ParameterClass::norm;
  };
  CHECK(train::recipe_facts(quantized).at("trained_beside_adapters") == "nothing");
  CHECK(train::recipe_facts(with_norms).at("trained_beside_adapters") == "layers.0.attention_norm.weight");
  CHECK_FALSE(train::recipe_facts(training_program<recipes::llama>()).contains("trained_beside_adapters"));

  const std::string alone = trained(quantized, "alone", fixture("llama")),
                    more = trained(with_norms, "more", fixture("llama"));
  CHECK(base_of(trained(recipe, "of_alone", alone)) == fixture("llama"));
  CHECK(base_of(trained(recipe, "of_more", more)).is_null());

  // A mean of several bases is of none of them.
  const auto mean_with_alone = [&](const std::string& other, const std::string& name) {
    return train::average_checkpoints({alone, other}, {}, folder / name).path;
  };
  CHECK(base_of(mean_with_alone(trained(recipe, "alike", fixture("llama")), "mean")) == fixture("llama"));
  CHECK(base_of(mean_with_alone(trained(recipe, "unlike", fixture("gpt2")), "mixed")).is_null());

  // Checkpoints of earlier versions say nothing of it.
  const auto without_fact = [](const std::string& checkpoint) {
    auto metadata = runtime::read_checkpoint_metadata(checkpoint);
    CHECK(metadata.recipe_facts.erase("trained_beside_adapters") == 1);
    write_bytes(checkpoint + "/metadata.json", runtime::checkpoint_metadata::to_json(metadata));
    return checkpoint;
  };
  CHECK(base_of(without_fact(trained(recipe, "older", fixture("llama")))) == fixture("llama"));
  CHECK(base_of(without_fact(alone)).is_null());
}

}  // namespace monomorph
