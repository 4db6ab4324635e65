// Files for llama.cpp against those that the gguf package writes: tests/fixtures/gguf, where check.py loads those in
// llama.cpp.
#include "fixtures/weights/recipes/bert.hpp"
#include "fixtures/weights/recipes/gemma2_capped.hpp"
#include "fixtures/weights/recipes/gemma3.hpp"
#include "fixtures/weights/recipes/gpt2.hpp"
#include "fixtures/weights/recipes/llama.hpp"
#include "fixtures/weights/recipes/llama_options.hpp"
#include "fixtures/weights/recipes/mistral.hpp"
#include "fixtures/weights/recipes/mixtral.hpp"
#include "fixtures/weights/recipes/qwen2.hpp"
#include "fixtures/weights/recipes/qwen3_yarn.hpp"
#include "support/error_of.hpp"
#include "support/training_program.hpp"
#include "train/run/weights/export_gguf.hpp"
#include "train/run/weights/gguf_architecture.hpp"
#include "train/run/weights/gguf_special_tokens.hpp"
#include "train/run/weights/gguf_tokenizer.hpp"
#include "weights_check.hpp"

#include <monomorph/data/text/word_pattern.hpp>

namespace monomorph {
namespace {

using namespace testing;
using data::TokenizerDefinition;
namespace normalizers = data::normalizers;
namespace pre_tokenizers = data::pre_tokenizers;

const std::string gguf_fixtures = MONOMORPH_SOURCE_DIR "/tests/fixtures/gguf/";
const std::string tokenizer_fixtures = MONOMORPH_SOURCE_DIR "/tests/fixtures/tokenizers/";

TokenizerDefinition definition() { return data::read_tokenizer_definition(gguf_fixtures + "tokenizer.json"); }
TokenizerDefinition llama2() {
  return data::read_tokenizer_definition(gguf_fixtures + "tokenizers/llama2/tokenizer.json");
}

/// Whether the bytes, which are no text to be shown, are those of a fixture.
bool is_fixture(const std::string& bytes, const std::string& name) { return bytes == read_bytes(gguf_fixtures + name); }

struct Written {
  std::string bytes;
  std::vector<std::string> notes;
};

/// A folder's weights as a file for llama.cpp.
template <Recipe R> Written exported(const std::string& name, DType dtype = DType::fp32) {
  const train::RecipeProgram recipe = training_program<R>();
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, fixture(name), folder / "imported");
  const auto [line, notes] =
      train::export_gguf(recipe, imported.checkpoint, folder / "model.gguf", dtype, nullptr, folder / "imported");
  return {read_bytes(folder / "model.gguf"), notes};
}
template <Recipe R> void check_model(const std::string& name) {
  CAPTURE(name);
  const Written written = exported<R>(name);
  CHECK(is_fixture(written.bytes, name + ".gguf"));
  CHECK(written.notes.empty());
}

void check_not_computed(const train::RecipeProgram& recipe, const std::string& feature) {
  const TemporaryFolder folder;
  const std::string message = error_of(
      [&] { train::export_gguf(recipe, "nowhere", folder / "model.gguf", DType::fp32, nullptr, folder.path()); });
  CAPTURE(message);
  CHECK(message.starts_with("[GGUF-01]"));
  CHECK(contains(message, feature));
  CHECK_FALSE(std::filesystem::exists(folder / "model.gguf"));
}
/// Of a recipe whose model is another one.
void check_not_computed(train::RecipeProgram recipe, const std::string& feature, auto change) {
  DecoderSpec changed = *recipe.model;
  change(changed);
  recipe.model = &changed;
  check_not_computed(recipe, feature);
}

/// A tokeniser as a file without tensors, of a model with three ids more.
/// @param folder where files name special tokens
Written with_tokenizer(const data::Tokenizer& tokenizer, const std::string& folder) {
  const TemporaryFolder place;
  runtime::GgufMetadata metadata;
  metadata.add("general.architecture", std::string_view("llama"));
  const train::SpecialTokens special(folder, &tokenizer);
  Written written{"", train::add_tokenizer(tokenizer, special, tokenizer.vocab_size() + 3, metadata)};
  train::add_chat_templates(folder, metadata);
  runtime::write_gguf(place / "tokenizer.gguf", metadata, {});
  written.bytes = read_bytes(place / "tokenizer.gguf");
  return written;
}
Written with_tokenizer(TokenizerDefinition definition, const std::string& folder) {
  return with_tokenizer(data::Tokenizer(std::move(definition)), folder);
}
std::string refusal(TokenizerDefinition definition, const std::string& folder = gguf_fixtures) {
  return error_of([&] { with_tokenizer(std::move(definition), folder); });
}

/// That it makes of the texts of ids.json what the tokenizers package makes of them, and is the file of that name.
/// @param notes parts of the lines that say what differs
void check_tokenizer(const std::string& name, const TokenizerDefinition& definition, const std::string& folder,
                     const std::vector<std::string>& notes) {
  CAPTURE(name);
  const Written written = with_tokenizer(definition, folder);
  CHECK(is_fixture(written.bytes, "tokenizers/" + name + "/tokenizer.gguf"));
  REQUIRE(written.notes.size() == notes.size());
  for (std::size_t i = 0; i < notes.size(); ++i) CHECK(contains(written.notes[i], notes[i]));

  const auto content = nlohmann::json::parse(read_bytes(gguf_fixtures + "tokenizers/ids.json"));
  const auto& of_tokenizer = content.at("tokenizers").at(name);
  auto texts = content.at("texts").get<std::vector<std::string>>();
  for (const auto& text : of_tokenizer.at("special_texts")) texts.push_back(text);
  const data::Tokenizer tokenizer(definition);
  for (std::size_t i = 0; i < texts.size(); ++i)
    CHECK(tokenizer.encode(texts[i], data::SpecialTokens::around_text) ==
          of_tokenizer.at("ids")[i].get<std::vector<std::int32_t>>());
}

/// What a merge makes.
std::string token_of(const TokenizerDefinition& definition, const data::TokenPair& pair) {
  return definition.vocabulary[static_cast<std::size_t>(pair.left)] +
         definition.vocabulary[static_cast<std::size_t>(pair.right)];
}

TokenizerDefinition with_words(TokenizerDefinition definition, data::WordPattern pattern, bool ignore_merges) {
  const std::string regex(data::regex_of(pattern));
  definition.pre_tokenizers = {pre_tokenizers::Split{{regex, true}, pre_tokenizers::Behavior::isolated},
                               pre_tokenizers::ByteLevel{.add_prefix_space = false, .use_regex = false}};
  std::get<data::tokenizer_models::Bpe>(definition.model).ignore_merges = ignore_merges;
  return definition;
}

}  // namespace

TEST_CASE("a file for llama.cpp has the bytes that the gguf package writes") {
  check_model<recipes::gpt2>("gpt2");
  check_model<recipes::llama>("llama");
  check_model<recipes::llama_options>("llama_options");
  check_model<recipes::mixtral>("mixtral");
  check_model<recipes::qwen2>("qwen2");
  check_model<recipes::qwen3_yarn>("qwen3_yarn");
  check_model<recipes::gemma2_capped>("gemma2_capped");
  check_model<recipes::gemma3>("gemma3");
}

TEST_CASE(
    "of a model that sees a window in all layers, a file for llama.cpp has as long a context, and a note says so") {
  const Written written = exported<recipes::mistral>("mistral");
  CHECK(is_fixture(written.bytes, "mistral.gguf"));
  REQUIRE(written.notes.size() == 1);
  CHECK(contains(written.notes.front(), "a context of 5 tokens, up to which it computes the same, and not 16"));
}

TEST_CASE("matrices of a file for llama.cpp may have 16 bits, and vectors keep 32") {
  const std::size_t whole = exported<recipes::llama_options>("llama_options").bytes.size();
  const std::string rounded = exported<recipes::llama_options>("llama_options", DType::bf16).bytes;
  CHECK(rounded == exported<recipes::llama_options>("llama_options", DType::bf16).bytes);
  CHECK(rounded.size() > whole / 2);
  CHECK(rounded.size() < whole);
  // Queries of this model are multiplied, in fp32, before they are rounded.
  const std::size_t of_gemma = exported<recipes::gemma2_capped>("gemma2_capped").bytes.size();
  CHECK(exported<recipes::gemma2_capped>("gemma2_capped", DType::fp16).bytes.size() < of_gemma);
}

TEST_CASE("what llama.cpp can't compute is refused by its name, and nothing is written") {
  check_not_computed(training_program<recipes::bert>(), "a model of the family bert");
  const train::RecipeProgram llama = training_program<recipes::llama>(),
                             gemma2 = training_program<recipes::gemma2_capped>(),
                             gemma3 = training_program<recipes::gemma3>();
  check_not_computed(llama, "dynamic scaling", [](DecoderSpec& model) { model.rotary.dynamic.original_context = 8; });
  check_not_computed(llama, "options of YaRN",
                     [](DecoderSpec& model) { model.rotary.yarn = {.factor = 2, .beta_fast = 8}; });
  check_not_computed(training_program<recipes::gpt2>(), "another activation",
                     [](DecoderSpec& model) { model.activation = Activation::gelu_exact; });
  const train::RecipeProgram qwen2 = training_program<recipes::qwen2>(),
                             qwen3 = training_program<recipes::qwen3_yarn>();
  const auto scale_as_llama3 = [](DecoderSpec& model) {
    model.rotary = {.base = model.rotary.base, .scaling = {.factor = 4, .original_context = 8}};
  };
  for (const train::RecipeProgram& recipe : {qwen2, qwen3, gemma2, gemma3})
    check_not_computed(recipe, "rotary positions scaled as Llama 3 does it", scale_as_llama3);
  train::RecipeProgram mixtral = training_program<recipes::mixtral>();
  DecoderSpec scaled = *mixtral.model;
  scale_as_llama3(scaled);
  mixtral.model = &scaled;
  CHECK(train::gguf_architecture(mixtral, train::portable_model(mixtral)).name == "llama");
  check_not_computed(qwen3, "a bias of attention's output",
                     [](DecoderSpec& model) { model.bias.qkv = model.bias.attention_out = true; });
  check_not_computed(gemma2, "no cap of scores", [](DecoderSpec& model) { model.soft_cap.scores = 0; });
  check_not_computed(gemma2, "a head of its own", [](DecoderSpec& model) { model.tied_head = false; });
  check_not_computed(gemma2, "another activation", [](DecoderSpec& model) { model.activation = Activation::swiglu; });
  check_not_computed(gemma3, "a cap of logits", [](DecoderSpec& model) { model.soft_cap.logits = 30; });
  train::RecipeProgram all_local = gemma2;
  for (auto& layer : all_local.attentions) layer.mask.before = AttentionMask::unlimited;
  check_not_computed(all_local, "no layers with a window");
}

TEST_CASE("a tokenizer in a file for llama.cpp is as the gguf package writes it") {
  CHECK(is_fixture(with_tokenizer(definition(), gguf_fixtures).bytes, "tokenizer.gguf"));

  const std::string folders = gguf_fixtures + "tokenizers/";
  const auto of_file = [](const std::string& name) {
    return data::read_tokenizer_definition(tokenizer_fixtures + name + ".json");
  };
  const TokenizerDefinition llama3 = of_file("llama3");
  check_tokenizer("llama3", llama3, folders + "llama3", {});
  check_tokenizer("qwen2", of_file("qwen2"), folders + "qwen2", {"form NFC"});
  const std::string marks = "before combining marks";
  check_tokenizer("tekken", with_words(llama3, data::WordPattern::tekken, true), folders + "smollm", {marks});
  check_tokenizer("gpt4o", with_words(llama3, data::WordPattern::o200k, false), folders + "smollm", {marks});
  TokenizerDefinition digits = with_words(llama3, data::WordPattern::gpt2, false);
  digits.pre_tokenizers = {pre_tokenizers::Digits{.individual = true},
                           pre_tokenizers::ByteLevel{.add_prefix_space = false}};
  check_tokenizer("smollm", digits, folders + "smollm", {});

  check_tokenizer("llama2", llama2(), folders + "llama2", {});
  const TemporaryFolder without_template;
  write_bytes(without_template / "special_tokens_map.json", read_bytes(folders + "llama2/special_tokens_map.json"));
  TokenizerDefinition metaspace = llama2(), no_space = llama2();
  metaspace.normalizers.clear();
  metaspace.pre_tokenizers = {
      pre_tokenizers::Metaspace{.prepend_scheme = pre_tokenizers::PrependScheme::first, .split = false}};
  check_tokenizer("mistral", metaspace, without_template.path(),
                  {"behind each special token", "a text that begins with one"});
  no_space.normalizers.erase(no_space.normalizers.begin());
  check_tokenizer("gemma", no_space, without_template.path(), {});
}

TEST_CASE("a tokenizer that llama.cpp does not have is refused by what it has") {
  const auto check = [](const std::string& feature, TokenizerDefinition changed, auto change) {
    change(changed);
    const std::string message = refusal(std::move(changed));
    CAPTURE(message);
    CHECK(message.starts_with("[GGUF-02]"));
    CHECK(contains(message, feature));
  };
  using Definition = TokenizerDefinition;
  using data::tokenizer_models::Bpe;
  check("normalizers other than NFC", definition(),
        [](Definition& changed) { changed.normalizers = {normalizers::Lowercase{}}; });
  check("normalizers other than NFC", definition(),
        [](Definition& changed) { changed.normalizers = {normalizers::Unicode{normalizers::UnicodeForm::nfkc}}; });
  check("a space before each text", definition(),
        [](Definition& changed) { changed.pre_tokenizers = {pre_tokenizers::ByteLevel{}}; });
  check("not cut into bytes", definition(),
        [](Definition& changed) { changed.pre_tokenizers = {pre_tokenizers::Whitespace{}}; });
  check("this pattern of words", definition(), [](Definition& changed) {
    changed.pre_tokenizers = {pre_tokenizers::Split{{"[a-z]+", true}, pre_tokenizers::Behavior::isolated},
                              pre_tokenizers::ByteLevel{.add_prefix_space = false, .use_regex = false}};
  });
  check("ignore_merges true", definition(),
        [](Definition& changed) { std::get<Bpe>(changed.model).ignore_merges = true; });
  check("a model other than BPE", definition(),
        [](Definition& changed) { changed.model = data::tokenizer_models::WordLevel{.unk_token = "a"}; });
  check("marks within or behind words", definition(),
        [](Definition& changed) { std::get<Bpe>(changed.model).end_of_word_suffix = "</w>"; });
  check("several tokens before", definition(), [](Definition& changed) { changed.frame.before = {0, 1}; });
  check("no token that ends a text", definition(),
        [](Definition& changed) { changed.added_tokens.front().content = "<end>"; });
  const data::Tokenizer of_sentence_piece(data::SentencePieceModel(tokenizer_fixtures + "bpe.model"));
  CHECK(contains(error_of([&] { with_tokenizer(of_sentence_piece, gguf_fixtures); }),
                 "[GGUF-02] llama.cpp has no tokenizer with bytes that have no token of their own"));

  check("these steps before characters are merged", llama2(),
        [](Definition& changed) { changed.normalizers = {normalizers::Lowercase{}}; });
  check("ignore_merges", llama2(), [](Definition& changed) { std::get<Bpe>(changed.model).ignore_merges = true; });
  check("no token for the byte 0x41", llama2(),
        [](Definition& changed) { *std::ranges::find(changed.vocabulary, "<0x41>") = "<no byte>"; });
  check("words that are cut before their spaces", llama2(), [](Definition& changed) {
    changed.normalizers.clear();
    changed.pre_tokenizers = {pre_tokenizers::Metaspace{}};
  });
}

TEST_CASE(
    "merges that llama.cpp would make and a tokenizer does not are refused, or noted where it makes no such token") {
  // Trained by the tokenizers package: one merge for each token.
  const std::string one_way = refusal(data::read_tokenizer_definition(tokenizer_fixtures + "llama2.json"));
  CHECK(one_way.starts_with("[GGUF-02]"));
  CHECK(contains(one_way, "of some of its parts and not of others"));
  TokenizerDefinition without = llama2();
  auto& merges = std::get<data::tokenizer_models::Bpe>(without.model).merges;
  const std::string token = token_of(without, merges.back());
  std::erase_if(merges, [&](const data::TokenPair& pair) { return token_of(without, pair) == token; });
  const Written written = with_tokenizer(without, gguf_fixtures + "tokenizers/llama2");
  REQUIRE(written.notes.size() == 1);
  CHECK(contains(written.notes.front(), "the parts of 1 tokens that this tokeniser never makes"));
}

TEST_CASE("tokens whose merges are mixed have one score in a file for llama.cpp, and a note says so") {
  // The merges that make two and three of a letter, of several letters by turns.
  const auto notes_with = [](const std::vector<std::string>& letters) {
    TokenizerDefinition mixed = llama2();
    auto& merges = std::get<data::tokenizer_models::Bpe>(mixed.model).merges;
    const auto first = static_cast<std::int32_t>(mixed.vocabulary.size());
    for (const std::string& letter : letters)
      for (const std::string& token : {letter, letter + letter, letter + letter + letter})
        mixed.vocabulary.push_back(token);
    for (const auto& [left, right] : {data::TokenPair{0, 0}, data::TokenPair{0, 1}, data::TokenPair{1, 0}})
      for (std::int32_t letter = first; letter < static_cast<std::int32_t>(mixed.vocabulary.size()); letter += 3)
        merges.push_back({letter + left, letter + right});
    return with_tokenizer(mixed, gguf_fixtures + "tokenizers/llama2").notes;
  };
  const std::vector<std::string> notes = notes_with({"\u0416", "\u042F"});
  REQUIRE(notes.size() == 1);
  CHECK(contains(notes.front(), "from the left, such as those of \"\u042F\u042F\u042F\""));
  CHECK(notes_with({"\u0416"}).empty());
}

TEST_CASE("of special tokens a file for llama.cpp has what the files beside a tokenizer name, or says what it can't") {
  TokenizerDefinition changed = definition();
  const auto first_added = static_cast<std::int32_t>(changed.vocabulary.size());
  for (const std::string content : {"<a>", "<b>", "<c>", "<d>"})
    changed.added_tokens.push_back(
        {content, first_added + static_cast<std::int32_t>(changed.added_tokens.size()), true, false});
  changed.added_tokens.back().lstrip = true;
  const TemporaryFolder folder;
  write_bytes(
      folder / "generation_config.json",
      nlohmann::json{{"eos_token_id", {first_added + 2, first_added + 3, first_added + 4, first_added + 5}}}.dump());
  const Written written = with_tokenizer(changed, folder.path());
  REQUIRE(written.notes.size() == 2);
  CHECK(contains(written.notes[0], "does not stop at \"<d>\""));
  CHECK(contains(written.notes[1], "these mind: \"<d>\""));
  write_bytes(folder / "tokenizer_config.json", R"({"pad_token": "<nowhere>", "bos_token": "<a>"})");
  CHECK(with_tokenizer(changed, folder.path()).notes == written.notes);
  write_bytes(folder / "tokenizer_config.json", R"({"eos_token": "<nowhere>"})");
  CHECK(refusal(changed, folder.path()).starts_with("[RUN-29]"));
  write_bytes(folder / "tokenizer_config.json", "[");
  CHECK(refusal(changed, folder.path()).starts_with("[RUN-29]"));
}

}  // namespace monomorph
