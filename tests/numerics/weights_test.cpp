// Models that Hugging Face's transformers wrote, loaded, saved, exported and loaded again:
// tests/fixtures/weights/README.md says what they are.
#include "support/catch.hpp"
#include "support/error_of.hpp"
#include "support/hugging_face.hpp"
#include "support/temporary_folder.hpp"
#include "train/run/import_weights.hpp"
#include "train/weights/export_folder.hpp"
#include "train/weights/load_weights.hpp"
#include "train/weights/model_folder.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/commands/run_recipe.hpp>
#include <monomorph/train/run/run_checkpoint.hpp>

#include <map>

namespace monomorph {
namespace {

using namespace testing;

constexpr std::int64_t batch = 2, T = 16;

struct gpt2 {
  static constexpr DecoderSpec model{.vocab_size = 64, .n_layers = 2, .n_heads = 4, .d_model = 32, .context_length = T};
  using sharding = sharding::Replicate;
  using precision = precision::Fp32;
  using checkpointing = checkpointing::KeepAll;
  using optimizer = optim::AdamW;
};
struct gpt2_untied : gpt2 {
  static constexpr DecoderSpec model{.vocab_size = 64,
                                     .n_layers = 2,
                                     .n_heads = 4,
                                     .d_model = 32,
                                     .context_length = T,
                                     .d_ff = 48,
                                     .vocab_multiple = 48,
                                     .norm = {.epsilon = 1e-6},
                                     .activation = Activation::gelu_exact,
                                     .tied_head = false};
};

constexpr DecoderSpec llama_like() {
  return {.vocab_size = 64,
          .n_layers = 2,
          .n_heads = 4,
          .d_model = 32,
          .context_length = T,
          .n_kv_heads = 2,
          .d_ff = 48,
          .norm = {.kind = NormKind::rms_norm, .bias = false},
          .activation = Activation::swiglu,
          .position = Position::rotary,
          .bias = no_biases,
          .tied_head = false};
}
struct llama : gpt2 {
  static constexpr DecoderSpec model = llama_like();
};
struct llama_options : gpt2 {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = llama_like();
    model.head_dim = 12;
    model.norm.epsilon = 1e-6;
    model.bias = {};
    model.tied_head = true;
    model.rotary = {.base = 500, .scaling = {.factor = 4, .original_context = 8}};
    return model;
  }();
};
struct mistral : llama {
  using attention = attention::SlidingWindow<5>;
};
struct qwen2 : gpt2 {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = llama_like();
    model.norm.epsilon = 1e-6;
    model.bias.qkv = true;
    model.tied_head = true;
    return model;
  }();
};
struct qwen3 : gpt2 {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = llama_like();
    model.norm.epsilon = 1e-6;
    model.head_dim = 16;
    model.qk_norm = true;
    return model;
  }();
};

std::string fixture(const std::string& name) { return MONOMORPH_SOURCE_DIR "/tests/fixtures/weights/" + name; }

/// A step of a recipe, and the logits of a fixture's batch.
template <Recipe R> struct Model {
  std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step{*communicator, batch, 1};

  Values logits(const std::string& name) {
    const auto expected = runtime::SafetensorsFile::open(fixture(name) + "/expected.safetensors");
    const std::vector<std::int32_t> ids = ids_of(expected, "input_ids");
    step.evaluate({ids.data(), ids.data(), 0});
    // A row for each token; behind the vocabulary are the ids that pad the table.
    const Values padded = values_of(step.state().activations.statistics()[step.head().logits_CV]);
    const std::size_t width = R::model.padded_vocab(), vocabulary = R::model.vocab_size;
    Values logits;
    for (std::size_t row = 0; row < ids.size(); ++row)
      logits.insert(logits.end(), &padded[row * width], &padded[row * width] + vocabulary);
    return logits;
  }
};

/// Every tensor of a folder: dtype, shape and bytes.
std::map<std::string, std::string> contents_of(const std::string& folder) {
  std::map<std::string, std::string> contents;
  const train::FolderTensors tensors(folder);
  for (const auto& [name, tensor] : tensors.all()) {
    std::string text(runtime::name_of(tensor.entry->dtype));
    for (const std::int64_t size : tensor.entry->shape) text += " " + std::to_string(size);
    text.append(reinterpret_cast<const char*>(tensor.file->data(*tensor.entry)),
                tensor.entry->end - tensor.entry->begin);
    contents[name] = text;
  }
  return contents;
}

/// Import, load, save, export, and import again.
template <Recipe R> void check_travels(const std::string& name) {
  const train::RecipeProgram recipe = detail::program_of<R>();
  const TemporaryFolder folder;
  const Values expected = values_of(runtime::SafetensorsFile::open(fixture(name) + "/expected.safetensors"), "logits");

  // What a run starts from.
  Model<R> started;
  const auto opened = train::open_weights(fixture(name), recipe, train::facts_that_training_changes());
  CHECK(opened.notes.empty());
  train::check_tensors(*opened.source, recipe, {});
  CHECK(train::load_weights(*opened.source, {}, started.step).empty());
  CHECK(relative_error(started.logits(name), expected) < 1e-5);

  // An import is a checkpoint of the same weights.
  const auto imported = train::import_weights(recipe, fixture(name), folder / "imported");
  CHECK(imported.notes.empty());
  Model<R> restored;
  train::restore_run(imported.checkpoint, recipe, restored.step, false);
  CHECK(hash_of(restored.step.parameters()) == hash_of(started.step.parameters()));

  // An export of it has the same tensors, bit for bit, and says the same of the model, in one file or in many.
  train::export_folder(recipe, imported.checkpoint, folder / "exported", {});
  train::export_folder(recipe, imported.checkpoint, folder / "in_files", {.bytes_per_file = 10'000});
  CHECK(contents_of(folder / "exported") == contents_of(fixture(name)));
  CHECK(contents_of(folder / "in_files") == contents_of(fixture(name)));
  const auto here = train::read_folder_model(folder / "exported"), there = train::read_folder_model(fixture(name));
  CHECK(here.family == there.family);
  CHECK(train::facts_of(here.portable) == train::facts_of(there.portable));

  // In 16 bits, what is imported and exported again stays as it was first rounded.
  for (const DType dtype : {DType::bf16, DType::fp16}) {
    const std::string rounded = folder / std::string(name_of(dtype));
    train::export_folder(recipe, imported.checkpoint, rounded, {.dtype = dtype});
    const auto again = train::import_weights(recipe, rounded, rounded + "_imported");
    train::export_folder(recipe, again.checkpoint, rounded + "_again", {.dtype = dtype});
    CHECK(contents_of(rounded + "_again") == contents_of(rounded));
  }
}

void check_refused(const train::RecipeProgram& recipe, const std::string& feature) {
  const std::string message = error_of([&] { train::family_for(recipe); });
  CAPTURE(message);
  CHECK(message.starts_with("[WEIGHTS-01]"));
  CHECK(contains(message, feature));
}

}  // namespace

TEST_CASE("GPT-2 travels") { check_travels<gpt2>("gpt2"); }
TEST_CASE("GPT-2 with a head of its own, another GELU and a padded table travels") {
  check_travels<gpt2_untied>("gpt2_untied");
}
TEST_CASE("Llama in many files travels") { check_travels<llama>("llama"); }
TEST_CASE("Llama with every option travels") { check_travels<llama_options>("llama_options"); }
TEST_CASE("Mistral with a window travels") { check_travels<mistral>("mistral"); }
TEST_CASE("Qwen2 travels") { check_travels<qwen2>("qwen2"); }
TEST_CASE("Qwen3 travels") { check_travels<qwen3>("qwen3"); }

TEST_CASE("what Hugging Face's files can't express is refused by its name") {
  const train::RecipeProgram llama_program = detail::program_of<llama>();
  const auto check = [&](const std::string& feature, auto change) {
    train::RecipeProgram recipe = llama_program;
    change(recipe);
    check_refused(recipe, feature);
  };
  constexpr MixtureSpec experts{.n_experts = 2, .top_k = 1};
  DecoderSpec ungated = llama_like(), without_positions = llama_like(), half_biased = llama_like();
  ungated.activation = Activation::gelu_tanh;
  without_positions.position = Position::none;
  half_biased.bias.mlp = half_biased.bias.qkv = true;
  check("a mixture of experts", [&](auto& recipe) { recipe.layers.front().mixture = &experts; });
  check("post-norm blocks", [](auto& recipe) { recipe.layers.front().order = BlockOrder::post_norm; });
  check("blocks of the kind Own", [](auto& recipe) { recipe.layers.front().name = "Own"; });
  check("different masks", [](auto& recipe) { recipe.attentions.push_back({1, {.before = 4}, false}); });
  check("a prefix of 4", [](auto& recipe) { recipe.attentions.front().mask.prefix = 4; });
  check("model.activation is gelu_tanh in the recipe, and swiglu in llama",
        [&](auto& recipe) { recipe.model = &ungated; });
  check("model.position is none", [&](auto& recipe) { recipe.model = &without_positions; });
  check("model.bias.attention_out is false", [&](auto& recipe) { recipe.model = &half_biased; });
}

}  // namespace monomorph
