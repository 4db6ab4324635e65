// Encoders that Hugging Face's transformers wrote, loaded, saved, exported and loaded again:
// tests/fixtures/weights/README.md says what they are.
#include "fixtures/weights/recipes/bert.hpp"
#include "fixtures/weights/recipes/bert_masked.hpp"
#include "fixtures/weights/recipes/camembert_masked.hpp"
#include "fixtures/weights/recipes/roberta.hpp"
#include "fixtures/weights/recipes/xlm_roberta.hpp"
#include "numerics/changed_weights.hpp"
#include "support/training_program.hpp"
#include "weights_check.hpp"

#include <monomorph/model/masked_language_head.hpp>

#include <nlohmann/json.hpp>

namespace monomorph {
namespace {

using namespace testing;

/// A fixture with other tensors and other values in its config.json.
template <Recipe R> struct Changed {
  TemporaryFolder folder;
  Changed(const std::string& name, auto change, const nlohmann::json& patch = nlohmann::json::object()) {
    const auto original = runtime::SafetensorsFile::open(fixture(name) + "/model.safetensors");
    std::vector<runtime::TensorToWrite> tensors;
    for (const runtime::TensorEntry& entry : original.tensors()) {
      runtime::TensorToWrite tensor{entry.name, entry.dtype, entry.shape, original.data(entry)};
      if (change(tensor)) tensors.push_back(tensor);
    }
    runtime::write_safetensors(folder / "model.safetensors", tensors, {});
    nlohmann::json config = nlohmann::json::parse(read_bytes(fixture(name) + "/config.json"));
    config.merge_patch(patch);
    write_bytes(folder / "config.json", config.dump());
  }
  train::ImportedWeights imported() const {
    return train::import_weights(training_program<R>(), folder.path(), folder / "imported");
  }
  std::string refusal() const {
    return error_of([&] { imported(); });
  }
};
const auto keep = [](runtime::TensorToWrite&) { return true; };

/// The model of the fixture `masked_bert`, head and all.
struct of_masked_bert : recipes::bert {
  static constexpr MaskedLanguageSpec model{.trunk = {.vocab_size = 64,
                                                      .n_layers = 3,
                                                      .n_heads = 4,
                                                      .d_model = 32,
                                                      .context_length = 16,
                                                      .d_ff = 48,
                                                      .norm = {.epsilon = 1e-12},
                                                      .activation = Activation::gelu_exact}};
  using attention = monomorph::attention::Bidirectional;
  using objective = monomorph::objective::MaskedTokens<3>;
};

}  // namespace

TEST_CASE("BERT travels") { check_travels<recipes::bert>("bert"); }
TEST_CASE("of a BERT for masked tokens what lies below its head travels, with the type that all tokens have") {
  check_travels<recipes::bert_masked>("bert_masked", "is left out: \"cls.predictions.bias", false);
}

TEST_CASE("files of a BERT with the names of older versions are read") {
  const Changed<recipes::bert> older("bert", [](runtime::TensorToWrite& tensor) {
    for (const auto& [end, old_end] :
         {std::pair{".LayerNorm.weight", ".LayerNorm.gamma"}, std::pair{".LayerNorm.bias", ".LayerNorm.beta"}})
      if (tensor.name.ends_with(end))
        tensor.name.replace(tensor.name.rfind('.'), std::string::npos,
                            std::string(old_end).substr(std::string(".LayerNorm").size()));
    tensor.name.insert(0, "bert.");
    return true;
  });
  train::export_folder(training_program<recipes::bert>(), older.imported().checkpoint, older.folder / "exported", {});
  CHECK(contents_of(older.folder / "exported") == contents_of(fixture("bert")));
}

TEST_CASE("what no encoder of a recipe has of a BERT is refused by its name") {
  const auto of_config = [](const nlohmann::json& patch) {
    return Changed<recipes::bert>("bert", keep, patch).refusal();
  };
  const std::string relative = of_config({{"position_embedding_type", "relative_key"}});
  CHECK(relative.starts_with("[WEIGHTS-04]"));
  CHECK(contains(relative, "position_embedding_type: \\\"relative_key\\\""));
  CHECK(contains(of_config({{"is_decoder", true}}), "is_decoder: true"));
  CHECK(contains(of_config({{"hidden_act", "silu"}}), "hidden_act: "));
  CHECK(contains(of_config({{"type_vocab_size", -1}}), "type_vocab_size: -1"));
  CHECK(contains(of_config({{"layer_norm_eps", 1e-5}}), "model.norm.epsilon is 1e-05 there, and 1e-12 here"));
  const auto with = [&](const std::string& name, auto change) {
    return Changed<recipes::bert>("bert",
                                  [&](runtime::TensorToWrite& tensor) { return tensor.name != name || change(tensor); })
        .refusal();
  };
  const std::string types = "embeddings.token_type_embeddings.weight";
  CHECK(contains(with(types, [](auto&) { return false; }), "[WEIGHTS-09]"));
  CHECK(contains(with(types,
                      [](auto& tensor) {
                        tensor.shape = {4, 16};
                        return true;
                      }),
                 "must be a matrix of 32 columns"));
  CHECK(contains(with("encoder.layer.2.output.LayerNorm.bias", [](auto&) { return false; }),
                 "final_norm.bias is missing"));
  CHECK(contains(with("encoder.layer.0.output.LayerNorm.bias", [](auto&) { return false; }),
                 "layers.1.attention_norm.bias is missing"));

  const auto check = [](const std::string& feature, auto change) {
    train::RecipeProgram recipe = training_program<recipes::bert>();
    change(recipe);
    check_refused(recipe, feature);
  };
  DecoderSpec rotary = *training_program<recipes::bert>().model;
  rotary.position = Position::rotary;
  check("model.position is rotary in the recipe, and learned in bert", [&](auto& recipe) { recipe.model = &rotary; });
  check("order is pre-norm in the recipe, and normed residual in bert",
        [](auto& recipe) { recipe.layers.front().order = BlockOrder::pre_norm; });
  check("output is logits in the recipe, and hidden states in bert",
        [](auto& recipe) { recipe.output = ModelOutput::logits; });
}

TEST_CASE("RoBERTa travels") { check_travels<recipes::roberta>("roberta"); }
TEST_CASE("XLM-RoBERTa travels") { check_travels<recipes::xlm_roberta>("xlm_roberta"); }
TEST_CASE("of a CamemBERT for masked tokens, whose padding is another token, what lies below its head travels") {
  check_travels<recipes::camembert_masked>("camembert_masked", "is left out: \"lm_head.bias", false);
}

TEST_CASE("a RoBERTa is exported as a BERT unless it is asked for, and is the same model") {
  const train::RecipeProgram recipe = training_program<recipes::roberta>();
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, fixture("roberta"), folder / "imported");
  train::export_folder(recipe, imported.checkpoint, folder / "bert", {});
  CHECK(train::read_folder_model(folder / "bert").family == &train::bert);
  const auto again = train::import_weights(recipe, folder / "bert", folder / "imported_again");
  train::export_folder(recipe, again.checkpoint, folder / "roberta", {.family = &train::roberta});
  CHECK(contents_of(folder / "roberta") == contents_of(fixture("roberta")));
}

TEST_CASE("positions of a RoBERTa begin behind the token that its tokeniser fills up with") {
  const train::RecipeProgram recipe = training_program<recipes::roberta>();
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, fixture("roberta"), folder / "imported");
  train::export_folder(recipe, imported.checkpoint, folder / "of_5",
                       {.family = &train::roberta, .special_tokens = {{"pad_token_id", 5}}});
  const auto config = nlohmann::json::parse(read_bytes(folder / "of_5/config.json"));
  CHECK(config.at("pad_token_id") == 5);
  CHECK(config.at("max_position_embeddings") == 16 + 6);
  const std::string table = "embeddings.position_embeddings.weight";
  const auto rows_in = [&](const std::string& path) {
    return values_of(runtime::SafetensorsFile::open(path + "/model.safetensors"), table);
  };
  const Values here = rows_in(folder / "of_5"), there = rows_in(fixture("roberta"));
  CHECK(Values(here.begin(), here.begin() + 6 * 32) == Values(6 * 32));
  CHECK(Values(here.begin() + 6 * 32, here.end()) == Values(there.begin() + 2 * 32, there.end()));
  const auto again = train::import_weights(recipe, folder / "of_5", folder / "imported_again");
  train::export_folder(recipe, again.checkpoint, folder / "of_1", {.family = &train::roberta});
  CHECK(contents_of(folder / "of_1") == contents_of(fixture("roberta")));
}

TEST_CASE("positions of a RoBERTa that begin nowhere are refused") {
  const auto of_config = [](const nlohmann::json& patch) {
    return Changed<recipes::roberta>("roberta", keep, patch).refusal();
  };
  CHECK(contains(of_config({{"pad_token_id", -1}}), "pad_token_id: -1\" (positions begin behind it)"));
  CHECK(contains(of_config({{"pad_token_id", std::int64_t{1} << 62}}), "pad_token_id: "));
  CHECK(contains(of_config({{"pad_token_id", std::uint64_t{1} << 63}}), "pad_token_id: "));
  CHECK(of_config({{"pad_token_id", "1"}}).starts_with("[WEIGHTS-03]"));
  CHECK(contains(of_config({{"max_position_embeddings", 2}}),
                 "max_position_embeddings: 2\" (the first token has the position pad_token_id + 1)"));
  CHECK(contains(of_config({{"pad_token_id", 2}}), "position_embedding.weight is [15, 32] and must be [16, 32]"));
  const auto cut = [](runtime::TensorToWrite& tensor) {
    if (tensor.name == "embeddings.position_embeddings.weight") tensor.shape = {1, 32};
    return true;
  };
  CHECK(contains(Changed<recipes::roberta>("roberta", cut).refusal(), "must be of 2 rows and more"));
  check_refused(training_program<recipes::roberta>(), "roberta can't be a gpt2: ", &train::gpt2);
}

TEST_CASE("second copies of a BERT's tied table and of its bias must be copies") {
  const std::string weight = "cls.predictions.decoder.weight", bias = "cls.predictions.decoder.bias";
  const auto said_of = [&](auto change) {
    ChangedWeights changed("masked_bert");
    changed.tensors[weight] = changed.tensors.at("bert.embeddings.word_embeddings.weight");
    changed.tensors[bias] = changed.tensors.at("cls.predictions.bias");
    change(changed);
    const TemporaryFolder folder;
    changed.write(folder / "model");
    return error_of(
        [&] { train::import_weights(training_program<of_masked_bert>(), folder / "model", folder / "imported"); });
  };
  CHECK(said_of([](auto&) {}) == "(no error)");
  for (const std::string& name : {weight, bias}) {
    const std::string refused = said_of([&](ChangedWeights& changed) { changed.tensors[name].put(7, 0.25F); });
    CAPTURE(refused);
    CHECK(refused.starts_with("[WEIGHTS-15] \"" + name));
    CHECK(contains(refused, name == weight ? "is not the copy of embedding.weight" : "is not the copy of head.bias"));
    CHECK(contains(refused, "remove the tensor there"));
    CHECK(said_of([&](ChangedWeights& changed) { changed.tensors[name].resize_rows(63); }).starts_with("[WEIGHTS-15]"));
  }
}

}  // namespace monomorph
