// Models that Hugging Face's transformers wrote, loaded, saved, exported and loaded again:
// tests/fixtures/weights/README.md says what they are.
#include "fixtures/weights/recipes/gpt2.hpp"
#include "fixtures/weights/recipes/gpt2_untied.hpp"
#include "fixtures/weights/recipes/llama.hpp"
#include "fixtures/weights/recipes/llama_options.hpp"
#include "fixtures/weights/recipes/mistral.hpp"
#include "fixtures/weights/recipes/mixtral.hpp"
#include "fixtures/weights/recipes/qwen2.hpp"
#include "fixtures/weights/recipes/qwen3.hpp"
#include "weights_check.hpp"

namespace monomorph {
namespace {

using namespace testing;

/// The table is padded, which no folder knows of.
struct gpt2_padded : recipes::gpt2_untied {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = recipes::gpt2_untied::model;
    model.vocab_multiple = 48;
    return model;
  }();
};

template <std::int64_t vocabulary, std::int64_t context> struct gpt2_resized : recipes::gpt2 {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = recipes::gpt2::model;
    model.vocab_size = vocabulary;
    model.context_length = context;
    return model;
  }();
};

constexpr train::VocabularyRows initialized = train::VocabularyRows::initialized, mean = train::VocabularyRows::mean,
                                zero = train::VocabularyRows::zero;
constexpr train::PositionRows cut = train::PositionRows::cut, interpolated = train::PositionRows::interpolated;

train::WeightsHparams choices(train::VocabularyRows vocabulary, train::PositionRows positions) {
  train::WeightsHparams choices;
  choices.vocabulary.value = vocabulary;
  choices.positions.value = positions;
  return choices;
}

/// The fixture `gpt2` in a recipe with other rows, and the values that its step then has.
template <Recipe R> Tensors resized(const train::WeightsHparams& choices) {
  const train::RecipeProgram recipe = detail::program_of<R>();
  const auto opened = train::open_weights(fixture("gpt2"), recipe, train::facts_that_training_changes());
  train::check_tensors(*opened.source, recipe, choices);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 1, 1);
  train::load_weights(*opened.source, choices, step);
  return values_of(step.parameters());
}
template <Recipe R> std::string refusal_of_resizing(const train::WeightsHparams& choices) {
  const train::RecipeProgram recipe = detail::program_of<R>();
  const auto opened = train::open_weights(fixture("gpt2"), recipe, train::facts_that_training_changes());
  return error_of([&] { train::check_tensors(*opened.source, recipe, choices); });
}
template <Recipe R> Tensors initial() {
  const auto communicator = one_rank();
  return values_of(train::Step<R>(*communicator, 1, 1).parameters());
}
Values rows_of(const Values& values, std::size_t first, std::size_t end) {
  return {values.begin() + static_cast<std::ptrdiff_t>(first * 32),
          values.begin() + static_cast<std::ptrdiff_t>(end * 32)};
}

}  // namespace

TEST_CASE("GPT-2 travels") { check_travels<recipes::gpt2>("gpt2"); }
TEST_CASE("GPT-2 with a head of its own, another GELU and a padded table travels") {
  check_travels<gpt2_padded>("gpt2_untied");
}
TEST_CASE("Llama in many files travels") { check_travels<recipes::llama>("llama"); }
TEST_CASE("Llama with every option travels") { check_travels<recipes::llama_options>("llama_options"); }
TEST_CASE("Mistral with a window travels") { check_travels<recipes::mistral>("mistral"); }
TEST_CASE("Qwen2 travels") { check_travels<recipes::qwen2>("qwen2"); }
TEST_CASE("Qwen3 travels") { check_travels<recipes::qwen3>("qwen3"); }

TEST_CASE("Mixtral travels") { check_travels<recipes::mixtral>("mixtral"); }

TEST_CASE("a mixture that Mixtral's files can't express is refused by the name of what it has") {
  const auto check = [](const std::string& feature, auto change) {
    train::RecipeProgram recipe = detail::program_of<recipes::mixtral>();
    MixtureSpec mixture = *recipe.layers.front().mixture;
    change(mixture);
    recipe.layers.front().mixture = &mixture;
    check_refused(recipe, feature);
  };
  check("experts.capacity_factor is 1.25 in the recipe, and automatic in mixtral",
        [](MixtureSpec& mixture) { mixture.capacity_factor = 1.25; });
  check("experts.n_shared is 1", [](MixtureSpec& mixture) { mixture.n_shared = 1; });
  check("experts.scores is sigmoid", [](MixtureSpec& mixture) { mixture.scores = RouterScores::sigmoid; });
  check("experts.normalize is false", [](MixtureSpec& mixture) { mixture.normalize = false; });
  check("experts.bias_rate is 0.001", [](MixtureSpec& mixture) { mixture.bias_rate = 0.001; });

  train::RecipeProgram dense_below = detail::program_of<recipes::mixtral>();
  dense_below.layers.push_back(detail::program_of<recipes::llama>().layers.front());
  check_refused(dense_below, "layers with different MLPs or experts");
}

TEST_CASE("of an expert that is missing, or of another width, the file is told") {
  const std::string of_expert = "model.layers.1.block_sparse_moe.experts.2.w1.weight";
  const auto refusal = [&](auto change) {
    const TemporaryFolder folder;
    const auto original = runtime::SafetensorsFile::open(fixture("mixtral") + "/model.safetensors");
    std::vector<runtime::TensorToWrite> tensors;
    for (const runtime::TensorEntry& entry : original.tensors()) {
      runtime::TensorToWrite tensor{entry.name, entry.dtype, entry.shape, original.data(entry)};
      if (entry.name != of_expert || change(tensor)) tensors.push_back(tensor);
    }
    runtime::write_safetensors(folder / "model.safetensors", tensors, {});
    write_bytes(folder / "config.json", read_bytes(fixture("mixtral") + "/config.json"));
    return error_of(
        [&] { train::import_weights(detail::program_of<recipes::mixtral>(), folder.path(), folder / "imported"); });
  };
  const std::string missing = refusal([](auto&) { return false; });
  CHECK(missing.starts_with("[WEIGHTS-09]"));
  CHECK(contains(missing, "layers.1.mlp.experts.gate.weight is [144, 32] and must be [192, 32]"));
  const std::string transposed = refusal([](auto& tensor) {
    std::swap(tensor.shape[0], tensor.shape[1]);
    return true;
  });
  CHECK(transposed.starts_with("[WEIGHTS-07]"));
  CHECK(contains(transposed, of_expert));
  CHECK(contains(transposed, "must be [48, 32], as it holds an expert of layers.1.mlp.experts.gate.weight"));
}

TEST_CASE("what Hugging Face's files can't express is refused by its name") {
  const train::RecipeProgram llama_program = detail::program_of<recipes::llama>();
  const auto check = [&](const std::string& feature, auto change) {
    train::RecipeProgram recipe = llama_program;
    change(recipe);
    check_refused(recipe, feature);
  };
  DecoderSpec ungated = recipes::llama::model, without_positions = ungated, half_biased = ungated;
  ungated.activation = Activation::gelu_tanh;
  without_positions.position = Position::none;
  half_biased.bias.mlp = half_biased.bias.qkv = true;
  check("layers of the kind Own (top 2)", [](auto& recipe) {
    auto& layer = recipe.layers.front();
    layer.name = "Own", layer.is_plain_block = false, layer.features.add("top ", 2);
  });
  check("local.mask is causal, over the last 5 tokens in the recipe, and absent in llama", [](auto& recipe) {
    recipe.attentions.push_back({1, {.before = 4}, false});
  });
  check("a prefix of 4", [](auto& recipe) { recipe.attentions.front().mask.prefix = 4; });
  check("model.activation is gelu_tanh in the recipe, and swiglu in llama",
        [&](auto& recipe) { recipe.model = &ungated; });
  check("model.position is none", [&](auto& recipe) { recipe.model = &without_positions; });
  check("model.bias.attention_out is false", [&](auto& recipe) { recipe.model = &half_biased; });
}

TEST_CASE("files of the bare model, with the constants of older versions and a second copy of the table, are read") {
  const TemporaryFolder folder;
  const auto original = runtime::SafetensorsFile::open(fixture("gpt2") + "/model.safetensors");
  const std::string prefix = "transformer.";
  std::vector<runtime::TensorToWrite> tensors;
  for (const runtime::TensorEntry& entry : original.tensors())
    tensors.push_back({entry.name.substr(prefix.size()), entry.dtype, entry.shape, original.data(entry)});
  const runtime::TensorEntry& table = original.at("transformer.wte.weight");
  tensors.push_back({"lm_head.weight", table.dtype, table.shape, original.data(table)});
  tensors.push_back({"h.1.attn.bias", runtime::FileDType::u8, {1, 1, 2, 2}, original.data(table)});
  tensors.push_back({"h.1.attn.masked_bias", runtime::FileDType::f32, {}, original.data(table)});
  runtime::write_safetensors(folder / "model.safetensors", tensors, {});
  write_bytes(folder / "config.json", read_bytes(fixture("gpt2") + "/config.json"));

  const train::RecipeProgram recipe = detail::program_of<recipes::gpt2>();
  const auto imported = train::import_weights(recipe, folder.path(), folder / "imported");
  train::export_folder(recipe, imported.checkpoint, folder / "exported", {});
  CHECK(contents_of(folder / "exported") == contents_of(fixture("gpt2")));
}

TEST_CASE("a vocabulary of another size is cut, or gets rows as they are chosen") {
  const Values table = values_of(runtime::SafetensorsFile::open(fixture("gpt2") + "/model.safetensors"),
                                 "transformer.wte.weight"),
               mean_row =
                   values_of(runtime::SafetensorsFile::open(fixture("gpt2") + "/expected.safetensors"), "mean_row");
  using larger = gpt2_resized<80, 16>;
  using smaller = gpt2_resized<48, 16>;
  CHECK(resized<smaller>(choices(initialized, cut)).at("embedding.weight") == rows_of(table, 0, 48));
  CHECK(resized<smaller>(choices(mean, cut)).at("embedding.weight") == rows_of(table, 0, 48));

  const Values kept = resized<larger>(choices(initialized, cut)).at("embedding.weight");
  CHECK(rows_of(kept, 0, 64) == table);
  CHECK(rows_of(kept, 64, 80) == rows_of(initial<larger>().at("embedding.weight"), 64, 80));

  const Values meant = resized<larger>(choices(mean, cut)).at("embedding.weight");
  CHECK(rows_of(meant, 0, 64) == table);
  for (std::size_t row = 64; row < 80; ++row) CHECK(relative_error(rows_of(meant, row, row + 1), mean_row) < 1e-7);

  const Values zeroed = resized<larger>(choices(zero, cut)).at("embedding.weight");
  CHECK(rows_of(zeroed, 0, 64) == table);
  CHECK(rows_of(zeroed, 64, 80) == Values(16 * 32));

  CHECK(contains(refusal_of_resizing<larger>({}), "embedding.weight is [64, 32] and must be [80, 32]"));
}

TEST_CASE("learned positions of another context are cut or interpolated as torch does it") {
  const auto expected = runtime::SafetensorsFile::open(fixture("gpt2") + "/expected.safetensors");
  const Values positions =
      values_of(runtime::SafetensorsFile::open(fixture("gpt2") + "/model.safetensors"), "transformer.wpe.weight");
  using longer = gpt2_resized<64, 24>;
  using shorter = gpt2_resized<64, 8>;
  CHECK(resized<shorter>(choices(initialized, cut)).at("position_embedding.weight") == rows_of(positions, 0, 8));
  CHECK(relative_error(resized<shorter>(choices(initialized, interpolated)).at("position_embedding.weight"),
                       values_of(expected, "positions_8")) < 1e-7);
  CHECK(relative_error(resized<longer>(choices(initialized, interpolated)).at("position_embedding.weight"),
                       values_of(expected, "positions_24")) < 1e-7);
  for (const auto& refusal : {refusal_of_resizing<longer>(choices(initialized, cut)), refusal_of_resizing<longer>({})})
    CHECK(contains(refusal, "position_embedding.weight is [16, 32] and must be [24, 32]"));
}

}  // namespace monomorph
