// Models that sentence-transformers wrote, whose embeddings of texts are those that it makes:
// tests/fixtures/sentence_transformers/README.md says what they are.
#include "fixtures/sentence_transformers/recipes/last_of_roberta.hpp"
#include "fixtures/sentence_transformers/recipes/mean_of_bert.hpp"
#include "support/training_program.hpp"
#include "weights_check.hpp"

#include <monomorph/train/inference/embedder.hpp>

#include <nlohmann/json.hpp>

#include <filesystem>

namespace monomorph {
namespace {

using namespace testing;
using Json = nlohmann::json;

std::string sentence_fixture(const std::string& name) {
  return MONOMORPH_SOURCE_DIR "/tests/fixtures/sentence_transformers/" + name;
}
Json json_of(const std::string& path) { return Json::parse(read_bytes(path)); }

/// A recipe that makes embeddings of another kind.
struct first_of_bert : recipes::mean_of_bert {
  static constexpr EncoderSpec model = [] {
    EncoderSpec model = recipes::mean_of_bert::model;
    model.pooling = Pooling::first;
    model.unit_length = false;
    return model;
  }();
};
struct projected_bert : recipes::mean_of_bert {
  static constexpr EncoderSpec model = [] {
    EncoderSpec model = recipes::mean_of_bert::model;
    model.d_embedding = 8;
    return model;
  }();
};

template <Recipe R> void check_embeddings(const std::string& checkpoint, const std::string& folder) {
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, train::Embedder::texts_at_once, 1);
  train::restore_run(checkpoint, training_program<R>(), step, false);
  const auto tokenizer = data::read_tokenizer(folder + "/tokenizer.json");
  train::Embedder embedder(step, *tokenizer, R::model.context_length, 2);
  const Json expected = json_of(folder + "/expected.json");
  const auto texts = expected.at("texts").get<std::vector<std::string>>();
  const auto embeddings = embedder.embed(texts);
  REQUIRE(embeddings.size() == texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    CAPTURE(texts[i]);
    const Values made(embeddings[i].begin(), embeddings[i].end());
    CHECK(relative_error(made, expected.at("embeddings")[i].get<Values>()) < 1e-5);
  }
}

/// Of a fixture with other files, imported.
template <Recipe R> std::string refusal(const std::string& name, auto change) {
  const TemporaryFolder folder;
  std::filesystem::copy(sentence_fixture(name), folder / "model", std::filesystem::copy_options::recursive);
  change(folder / "model/");
  return error_of([&] { train::import_weights(training_program<R>(), folder / "model", folder / "imported"); });
}
void change_nothing(const std::string&) {}

}  // namespace

TEST_CASE("a BERT of sentence-transformers makes the embeddings that it makes there, and travels") {
  using R = recipes::mean_of_bert;
  const train::RecipeProgram recipe = training_program<R>();
  const std::string there = sentence_fixture("mean_of_bert");
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, there, folder / "imported");
  REQUIRE(without_dropout(imported.notes).size() == 1);
  CHECK(contains(imported.notes.front(), "is left out: \"pooler.dense.bias\", \"pooler.dense.weight\""));
  check_embeddings<R>(imported.checkpoint, there);

  train::export_folder(recipe, imported.checkpoint, folder / "exported", {});
  for (const std::string file : {"/modules.json", "/1_Pooling/config.json", "/sentence_bert_config.json"}) {
    CAPTURE(file);
    CHECK(json_of(folder / "exported" + file) == json_of(there + file));
  }
  const auto again = train::import_weights(recipe, folder / "exported", folder / "again");
  CHECK(again.notes.empty());
  check_embeddings<R>(again.checkpoint, there);
}

TEST_CASE(
    "a RoBERTa of sentence-transformers with a projection makes the embeddings that it makes there, and travels") {
  using R = recipes::last_of_roberta;
  const train::RecipeProgram recipe = training_program<R>();
  const std::string there = sentence_fixture("last_of_roberta");
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, there, folder / "imported");
  check_embeddings<R>(imported.checkpoint, there);

  const std::string exported = folder / "exported";
  train::export_folder(recipe, imported.checkpoint, exported, {.family = &train::roberta});
  CHECK(contents_of(exported + "/2_Dense") == contents_of(there + "/2_Dense"));
  CHECK_FALSE(contents_of(exported).contains("linear.weight"));
  const auto again = train::import_weights(recipe, exported, folder / "again");
  CHECK(again.notes.empty());
  check_embeddings<R>(again.checkpoint, there);
  train::export_folder(recipe, again.checkpoint, folder / "exported_again", {.family = &train::roberta});
  CHECK(contents_of(folder / "exported_again") == contents_of(exported));
  const std::string onto =
      error_of([&] { train::export_folder(recipe, imported.checkpoint, exported + "/2_Dense", {}); });
  CHECK(onto.starts_with("[WEIGHTS-06]"));
}

TEST_CASE("an encoder that makes other embeddings than sentence-transformers says is refused, or told") {
  const std::string other = refusal<first_of_bert>("mean_of_bert", change_nothing);
  CHECK(other.starts_with("[WEIGHTS-08]"));
  CHECK(contains(other, "model.pooling is mean there, and first here"));
  CHECK(contains(other, "model.unit_length is true there, and false here"));
  CHECK(contains(refusal<projected_bert>("mean_of_bert", change_nothing),
                 "model.d_embedding is automatic there, and 8 here"));
  const auto forget_modules = [](const std::string& model) { std::filesystem::remove(model + "modules.json"); };
  CHECK(refusal<first_of_bert>("mean_of_bert", forget_modules) == "(no error)");
  CHECK(contains(refusal<projected_bert>("mean_of_bert", forget_modules), "projection.weight is missing"));

  const auto opened = train::open_weights(sentence_fixture("mean_of_bert"), training_program<first_of_bert>(),
                                          train::facts_that_training_changes());
  REQUIRE(opened.notes.size() == 3);  // with what it leaves out
  CHECK(contains(opened.notes[0], "model.pooling is mean there, and first here"));
}

TEST_CASE("what sentence-transformers does with texts before the model sees them is told") {
  const TemporaryFolder folder;
  std::filesystem::copy(sentence_fixture("mean_of_bert"), folder / "model", std::filesystem::copy_options::recursive);
  write_bytes(folder / "model/sentence_bert_config.json", R"({"max_seq_length": 12})");
  write_bytes(folder / "model/config_sentence_transformers.json",
              R"({"prompts": {"query": "ask: "}, "default_prompt_name": "query"})");
  const auto imported =
      train::import_weights(training_program<recipes::mean_of_bert>(), folder / "model", folder / "imported");
  REQUIRE(without_dropout(imported.notes).size() == 3);
  CHECK(imported.notes.size() == 6);  // the dropout of the table, of attention and of what blocks add
  CHECK(contains(imported.notes[0], "to 12 tokens, and they have up to 16 here"));
  CHECK(contains(imported.notes[1], "puts \"ask: \" before texts"));
}

TEST_CASE("a projection of sentence-transformers that is missing, or another one, is refused") {
  using R = recipes::last_of_roberta;
  const std::string name = "last_of_roberta";
  const auto changed = [&](auto change) {
    return refusal<R>(name, [&](const std::string& model) { change(model + "2_Dense/model.safetensors"); });
  };
  const std::string missing = changed([](const std::string& file) { std::filesystem::remove(file); });
  CHECK(missing.starts_with("[WEIGHTS-05]"));
  CHECK(contains(missing, "2_Dense"));
  const auto with_tensors = [&](const std::vector<runtime::TensorToWrite>& tensors) {
    return changed([&](const std::string& file) { runtime::write_safetensors(file, tensors, {}); });
  };
  const std::vector<std::byte> zeros(4 * 8 * 32);
  const auto tensor = [&](const std::string& called, std::vector<std::int64_t> shape) {
    return runtime::TensorToWrite{called, runtime::FileDType::f32, std::move(shape), zeros.data()};
  };
  CHECK(contains(with_tensors({tensor("linear.bias", {8})}),
                 "projection.weight is missing; \"linear.bias in 2_Dense\" is not used"));
  CHECK(contains(with_tensors({tensor("linear.weight", {32, 8})}), "projection.weight is [32, 8] and must be [8, 32]"));
  CHECK(with_tensors({tensor("linear.weight", {256})}).starts_with("[WEIGHTS-07]"));
  CHECK(contains(refusal<R>(name,
                            [](const std::string& model) {
                              Json config = json_of(model + "2_Dense/config.json");
                              config["out_features"] = 16;
                              write_bytes(model + "2_Dense/config.json", config.dump());
                            }),
                 "model.d_embedding is 16 there, and 8 here"));
}

}  // namespace monomorph
