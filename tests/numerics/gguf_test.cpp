// Files for llama.cpp against those that the gguf package writes: tests/fixtures/gguf.
#include "fixtures/weights/recipes/gpt2.hpp"
#include "fixtures/weights/recipes/llama.hpp"
#include "fixtures/weights/recipes/llama_options.hpp"
#include "fixtures/weights/recipes/mistral.hpp"
#include "fixtures/weights/recipes/mixtral.hpp"
#include "fixtures/weights/recipes/qwen2.hpp"
#include "fixtures/weights/recipes/qwen3_yarn.hpp"
#include "support/error_of.hpp"
#include "train/run/weights/export_gguf.hpp"
#include "train/run/weights/gguf_tokenizer.hpp"
#include "weights_check.hpp"

namespace monomorph {
namespace {

using namespace testing;

const std::string gguf_fixtures = MONOMORPH_SOURCE_DIR "/tests/fixtures/gguf/";

data::TokenizerDefinition definition() { return data::read_tokenizer_definition(gguf_fixtures + "tokenizer.json"); }

/// A folder's weights as a file for llama.cpp.
template <Recipe R> std::string exported(const std::string& name, DType dtype = DType::fp32) {
  const train::RecipeProgram recipe = detail::program_of<R>();
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, fixture(name), folder / "imported");
  train::export_gguf(recipe, imported.checkpoint, folder / "model.gguf", dtype, nullptr);
  return read_bytes(folder / "model.gguf");
}

void check_not_computed(const train::RecipeProgram& recipe, const std::string& feature) {
  const TemporaryFolder folder;
  const std::string message =
      error_of([&] { train::export_gguf(recipe, "nowhere", folder / "model.gguf", DType::fp32, nullptr); });
  CAPTURE(message);
  CHECK(message.starts_with("[GGUF-01]"));
  CHECK(contains(message, feature));
  CHECK_FALSE(std::filesystem::exists(folder / "model.gguf"));
}

std::string refusal_of_tokenizer(auto change) {
  data::TokenizerDefinition changed = definition();
  change(changed);
  const data::Tokenizer tokenizer(std::move(changed));
  runtime::GgufMetadata metadata;
  return error_of([&] { train::add_tokenizer(tokenizer, 64, metadata); });
}

}  // namespace

TEST_CASE("a file for llama.cpp has the bytes that the gguf package writes") {
  CHECK(exported<recipes::llama>("llama") == read_bytes(gguf_fixtures + "llama.gguf"));
  CHECK(exported<recipes::qwen2>("qwen2") == read_bytes(gguf_fixtures + "qwen2.gguf"));
  CHECK(exported<recipes::llama_options>("llama_options") == read_bytes(gguf_fixtures + "llama_options.gguf"));
  CHECK(exported<recipes::mixtral>("mixtral") == read_bytes(gguf_fixtures + "mixtral.gguf"));
  CHECK(exported<recipes::qwen3_yarn>("qwen3_yarn") == read_bytes(gguf_fixtures + "qwen3_yarn.gguf"));
}

TEST_CASE("a tokenizer in a file for llama.cpp is as the gguf package writes it") {
  const TemporaryFolder folder;
  const data::Tokenizer tokenizer(definition());
  runtime::GgufMetadata metadata;
  metadata.add("general.architecture", std::string_view("llama"));
  train::add_tokenizer(tokenizer, tokenizer.vocab_size() + 3, metadata);
  runtime::write_gguf(folder / "tokenizer.gguf", metadata, {});
  CHECK(read_bytes(folder / "tokenizer.gguf") == read_bytes(gguf_fixtures + "tokenizer.gguf"));
}

TEST_CASE("matrices of a file for llama.cpp may have 16 bits, and vectors keep 32") {
  const std::size_t whole = exported<recipes::llama_options>("llama_options").size();
  const std::string rounded = exported<recipes::llama_options>("llama_options", DType::bf16);
  CHECK(rounded == exported<recipes::llama_options>("llama_options", DType::bf16));
  CHECK(rounded.size() > whole / 2);
  CHECK(rounded.size() < whole);
}

TEST_CASE("what llama.cpp can't compute is refused by its name, and nothing is written") {
  check_not_computed(detail::program_of<recipes::gpt2>(), "a model of the family gpt2");
  check_not_computed(detail::program_of<recipes::mistral>(), "a window of attention");
  train::RecipeProgram recipe = detail::program_of<recipes::llama>();
  DecoderSpec dynamic = *recipe.model, yarn = dynamic;
  dynamic.rotary.dynamic.original_context = 8;
  yarn.rotary.yarn = {.factor = 2, .beta_fast = 8};
  recipe.model = &dynamic;
  check_not_computed(recipe, "dynamic scaling");
  recipe.model = &yarn;
  check_not_computed(recipe, "options of YaRN");
}

TEST_CASE("a tokenizer that llama.cpp does not have is refused by what it has") {
  const auto check = [](const std::string& feature, auto change) {
    const std::string message = refusal_of_tokenizer(change);
    CAPTURE(message);
    CHECK(message.starts_with("[GGUF-02]"));
    CHECK(contains(message, feature));
  };
  using Definition = data::TokenizerDefinition;
  check("normalizers", [](Definition& changed) { changed.normalizers = {data::normalizers::Lowercase{}}; });
  check("a space before each text",
        [](Definition& changed) { changed.pre_tokenizers = {data::pre_tokenizers::ByteLevel{}}; });
  check("not cut into bytes",
        [](Definition& changed) { changed.pre_tokenizers = {data::pre_tokenizers::Whitespace{}}; });
  check("this pattern of words", [](Definition& changed) {
    changed.pre_tokenizers = {data::pre_tokenizers::Split{{"[a-z]+", true}, data::pre_tokenizers::Behavior::isolated},
                              data::pre_tokenizers::ByteLevel{.add_prefix_space = false, .use_regex = false}};
  });
  check("ignore_merges true",
        [](Definition& changed) { std::get<data::tokenizer_models::Bpe>(changed.model).ignore_merges = true; });
  check("other than byte-level BPE",
        [](Definition& changed) { changed.model = data::tokenizer_models::WordLevel{.unk_token = "a"}; });
}

}  // namespace monomorph
