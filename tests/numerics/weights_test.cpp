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
#include "numerics/changed_weights.hpp"
#include "support/ranks.hpp"
#include "support/training_program.hpp"
#include "train/run/weights/export_gguf.hpp"
#include "train/run/weights/open_together.hpp"
#include "train/run/weights/start_weights.hpp"
#include "train/weights/checkpoint_weights.hpp"
#include "train/weights/held_pages.hpp"
#include "weights_check.hpp"

#include <monomorph/core/process_memory.hpp>

#include <algorithm>
#include <limits>

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

train::Hparams starting_from(const train::RecipeProgram& recipe, const std::string& path) {
  train::Hparams hparams = train::default_hparams(recipe.hparams);
  hparams.weights.from.value = path;
  return hparams;
}

/// How much more of this program's memory is in use, at most, while a tensor is read piece by piece.
std::int64_t growth_while_reading(train::WeightsSource& source, const std::string& name) {
  std::vector<std::byte> bytes(train::elements_at_a_time * sizeof(float));
  std::int64_t before = 0, greatest = 0;
  train::in_bounded_pieces(source.find(name)->elements(), [&](std::int64_t first, std::int64_t n) {
    source.read(name, first, {bytes.data(), DType::fp32, {1, n}});
    if (first == 0) before = resident_bytes();  // with the buffers that reading takes
    greatest = std::max(greatest, resident_bytes() - before);
  });
  return greatest;
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
    train::RecipeProgram recipe = training_program<recipes::mixtral>();
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

  train::RecipeProgram dense_below = training_program<recipes::mixtral>();
  dense_below.layers.push_back(training_program<recipes::llama>().layers.front());
  check_refused(dense_below, "layers with different MLPs or experts");
}

TEST_CASE("a run may start from a folder of experts with a capacity that its files know nothing of, and says so") {
  train::RecipeProgram recipe = training_program<recipes::mixtral>();
  MixtureSpec mixture = *recipe.layers.front().mixture;
  mixture.capacity_factor = 1.25;
  recipe.layers.front().mixture = &mixture;
  const auto opened = train::open_weights(fixture("mixtral"), recipe, train::facts_that_training_changes());
  REQUIRE(opened.notes.size() == 1);
  CHECK(contains(opened.notes.front(), "experts.capacity_factor is automatic there, and 1.25 here"));
  const std::string refusal =
      error_of([&] { train::open_weights(fixture("mixtral"), recipe, train::facts_that_import_changes()); });
  CHECK(refusal.starts_with("[WEIGHTS-08]"));
}

TEST_CASE("adapters that lie beside a model are told, and without a model how they come with it") {
  const TemporaryFolder folder;
  write_bytes(folder / "adapter_config.json", "{}");
  const std::string alone = error_of([&] { train::find_weights(folder.path()); });
  CHECK(alone.starts_with("[ADAPTER-08]"));
  CHECK(contains(alone, "`import MODEL --adapter " + folder.path()));
  for (const char* const file : {"config.json", "model.safetensors"})
    write_bytes(folder / file, read_bytes(fixture("mixtral") + "/" + file));
  CHECK(train::find_weights(folder.path()) == folder.path());
  const auto opened =
      train::open_weights(folder.path(), training_program<recipes::mixtral>(), train::facts_that_training_changes());
  REQUIRE(opened.notes.size() == 1);
  CHECK(contains(opened.notes.front(), "adapters that lie beside the model"));
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
        [&] { train::import_weights(training_program<recipes::mixtral>(), folder.path(), folder / "imported"); });
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

TEST_CASE("an expert in NF4, and a matrix that a folder holds transposed, are refused with what to give instead") {
  const std::string by_bitsandbytes = MONOMORPH_SOURCE_DIR "/tests/fixtures/nf4/llama/model.safetensors";
  const auto quantized = runtime::SafetensorsFile::open(by_bitsandbytes);
  const auto refusal = [&](const train::RecipeProgram& recipe, const std::string& model, const std::string& name) {
    const TemporaryFolder folder;
    const auto original = runtime::SafetensorsFile::open(fixture(model) + "/model.safetensors");
    std::vector<runtime::TensorToWrite> tensors;
    const auto add = [&](const runtime::SafetensorsFile& file, const runtime::TensorEntry& entry,
                         const std::string& as) {
      tensors.push_back({as, entry.dtype, entry.shape, file.data(entry)});
    };
    for (const runtime::TensorEntry& entry : original.tensors())
      if (entry.name != name) add(original, entry, entry.name);
    REQUIRE(tensors.size() + 1 == original.tensors().size());
    const std::string in_nf4 = "model.layers.0.mlp.gate_proj.weight";
    for (const runtime::TensorEntry& entry : quantized.tensors())
      if (entry.name.starts_with(in_nf4)) add(quantized, entry, name + entry.name.substr(in_nf4.size()));
    runtime::write_safetensors(folder / "model.safetensors", tensors, {});
    write_bytes(folder / "config.json", read_bytes(fixture(model) + "/config.json"));
    return error_of([&] { train::open_weights(folder.path(), recipe, train::facts_that_training_changes()); });
  };
  for (const std::string& refused :
       {refusal(training_program<recipes::mixtral>(), "mixtral", "model.layers.1.block_sparse_moe.experts.2.w1.weight"),
        refusal(training_program<recipes::gpt2>(), "gpt2", "transformer.h.1.mlp.c_proj.weight")}) {
    CAPTURE(refused);
    CHECK(refused.starts_with("[WEIGHTS-07]"));
    CHECK((contains(refused, "experts.2.w1.weight") || contains(refused, "h.1.mlp.c_proj.weight")));
    CHECK(contains(refused, "is in NF4 and is not one matrix of the recipe"));
    CHECK(contains(refused, "give the folder of the model before it was quantised"));
  }
}

TEST_CASE("what Hugging Face's files can't express is refused by its name") {
  const train::RecipeProgram llama_program = training_program<recipes::llama>();
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

TEST_CASE("a width that heads do not divide is a Mistral's or a Qwen's, and refused where transformers takes none") {
  const auto check = [](train::RecipeProgram recipe, const std::string& refusing, const std::string& taking,
                        auto change) {
    CAPTURE(refusing);
    DecoderSpec undivided = *recipe.model;
    undivided.n_heads = 5, undivided.n_kv_heads = refusing == "gpt2" ? 5 : 1, undivided.head_dim = 32 / 5;
    change(undivided);
    recipe.model = &undivided;
    check_refused(recipe, "its d_model must be a multiple of its n_heads, and is 32 in the recipe, with 5 heads",
                  train::find_family(refusing));
    CHECK(train::family_computing(recipe).model_type == refusing);
    if (taking.empty()) return check_refused(recipe, "the nearest is " + refusing + ", but its d_model must be");
    CHECK(train::family_for(recipe).model_type == taking);
    CHECK(train::config_of(train::family_for(recipe), train::portable_model(recipe)).at("sliding_window").is_null());
  };
  const auto as_it_is = [](DecoderSpec&) {};
  check(training_program<recipes::llama>(), "llama", "mistral", as_it_is);
  check(training_program<recipes::llama>(), "llama", "", [](DecoderSpec& model) { model.bias = {}; });
  check(training_program<recipes::gpt2>(), "gpt2", "", as_it_is);
  train::RecipeProgram qwen3 = training_program<recipes::qwen3>();
  DecoderSpec undivided = *qwen3.model;
  undivided.n_heads = 5, undivided.n_kv_heads = 1;
  qwen3.model = &undivided;
  CHECK(train::family_for(qwen3).model_type == "qwen3");
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

  const train::RecipeProgram recipe = training_program<recipes::gpt2>();
  const auto imported = train::import_weights(recipe, folder.path(), folder / "imported");
  train::export_folder(recipe, imported.checkpoint, folder / "exported", {});
  CHECK(contents_of(folder / "exported") == contents_of(fixture("gpt2")));
}

TEST_CASE("a second copy of a tied table must be one, number by number") {
  const train::RecipeProgram recipe = training_program<recipes::gpt2>();
  const auto said_of = [&](auto change) {
    ChangedWeights changed("gpt2");
    auto& copy = changed.tensors["lm_head.weight"] = changed.tensors["transformer.wte.weight"];
    change(copy);
    const TemporaryFolder folder;
    changed.write(folder / "model");
    const std::string imported =
        error_of([&] { train::import_weights(recipe, folder / "model", folder / "imported"); });
    const std::string checked =
        error_of([&] { train::check_start_weights(recipe, starting_from(recipe, folder / "model")); });
    CHECK(checked == imported + (imported == "(no error)" ? "" : " (weights.from)"));
    CHECK((imported == "(no error)" || !std::filesystem::exists(folder / "imported")));
    return imported;
  };
  const auto check_refused = [&](auto change) {
    const std::string refused = said_of(change);
    CAPTURE(refused);
    CHECK(refused.starts_with("[WEIGHTS-15] \"lm_head.weight\" in "));
    CHECK(contains(refused, "is not the copy of embedding.weight that a tied model has"));
    CHECK(contains(refused, "tied_head = false"));
  };
  using Copy = ChangedWeights::Tensor;
  CHECK(said_of([](Copy&) {}) == "(no error)");
  CHECK(said_of([](Copy& copy) {
          std::vector<double> wide;
          for (std::size_t i = 0; i < copy.bytes.size(); i += sizeof(float)) {
            float number = 0;
            std::memcpy(&number, &copy.bytes[i], sizeof(number));
            wide.push_back(number);
          }
          const auto bytes = std::as_bytes(std::span(wide));
          copy = {runtime::FileDType::f64, copy.shape, {bytes.begin(), bytes.end()}};
        }) == "(no error)");
  check_refused([](Copy& copy) { copy.bytes.back() ^= std::byte{1}; });
  check_refused([](Copy& copy) { std::swap(copy.shape[0], copy.shape[1]); });
  check_refused([](Copy& copy) { copy.resize_rows(63); });
  check_refused([](Copy& copy) { copy.dtype = runtime::FileDType::i32; });
}

TEST_CASE("a file's pages are let go while a table is read, of a folder as of a checkpoint") {
  constexpr std::int64_t rows = std::int64_t{1} << 19, bytes = rows * 32 * 4;  // 64 MiB
  const train::RecipeProgram recipe = training_program<recipes::gpt2>();
  ChangedWeights large("gpt2");
  large.tensors["transformer.wte.weight"].resize_rows(rows);
  large.config["vocab_size"] = rows;
  const TemporaryFolder folder;
  large.write(folder / "model");
  const auto opened = train::open_weights(folder / "model", recipe, train::facts_that_training_changes());
  CHECK(growth_while_reading(*opened.source, "embedding.weight") < bytes / 2);

  const auto communicator = one_rank();
  const auto& table = large.tensors["transformer.wte.weight"];
  const std::vector<runtime::PartToSave> parts{
      {{.name = "embedding.weight", .dtype = table.dtype, .shape = table.shape, .data = table.bytes.data()},
       RegionRun::whole(dims_of(Shape{rows, 32}))}};
  runtime::CheckpointMetadata metadata;
  metadata.hyperparameters = "{}";
  const auto saved = runtime::save_checkpoint(folder / "checkpoints", metadata, *communicator, parts, {.latest = 1});
  train::CheckpointWeights weights(saved.path, recipe);
  CHECK(growth_while_reading(weights, "embedding.weight") < bytes / 2);
}

TEST_CASE("an export says which of its numbers are not finite, and which have become so by its dtype") {
  const train::RecipeProgram recipe = training_program<recipes::gpt2>();
  const auto warnings_of = [&](const std::string& checkpoint, const std::string& output, DType dtype) {
    std::vector<std::string> warnings;
    train::export_folder(recipe, checkpoint, output,
                         {.dtype = dtype, .warn = [&](std::string_view line) { warnings.emplace_back(line); }});
    return warnings;
  };
  ChangedWeights changed("gpt2");
  changed.tensors["transformer.wte.weight"].put(3, std::numeric_limits<float>::quiet_NaN());
  changed.tensors["transformer.wte.weight"].put(5, 7e4F);
  changed.tensors["transformer.h.1.attn.c_attn.weight"].put(0, -1e9F);  // of queries, transposed
  const TemporaryFolder folder;
  changed.write(folder / "model");
  const std::string of_changed = train::import_weights(recipe, folder / "model", folder / "imported").checkpoint,
                    finite = train::import_weights(recipe, fixture("gpt2"), folder / "finite").checkpoint;

  const auto in_fp16 = warnings_of(of_changed, folder / "fp16", DType::fp16);
  CAPTURE(in_fp16);
  REQUIRE(in_fp16.size() == 2);
  CHECK(in_fp16[0].starts_with("warning: [WEIGHTS-11] "));
  CHECK(in_fp16[0].ends_with(" are NaN or infinite: 1 in embedding.weight"));
  CHECK(contains(in_fp16[1], ": 1 in embedding.weight, 1 in layers.1.attention.q.weight; export with a wider --dtype"));
  CHECK(warnings_of(of_changed, folder / "fp32", DType::fp32) == std::vector{in_fp16[0]});
  CHECK(warnings_of(of_changed, folder / "bf16", DType::bf16) == std::vector{in_fp16[0]});
  CHECK(warnings_of(finite, folder / "finite_fp16", DType::fp16).empty());

  const auto noted = [&](const std::string& checkpoint) {
    return train::export_gguf(recipe, checkpoint, folder / "model.gguf", DType::fp16, nullptr, folder.path()).notes;
  };
  CHECK(noted(of_changed) == in_fp16);
  CHECK(noted(finite).empty());
}

TEST_CASE("what ranks hold that is not finite is counted once, whether others have copies or other parts") {
  using Numbers = train::NonFiniteNumbers;
  const auto seen_by_first = [](int shards) {
    Numbers seen;
    with_ranks(4, [&](const World& world) {
      const auto communicator = world.communicator(shards, DType::fp32);
      const int shard = world.rank() % shards;
      const Numbers all = train::of_all_ranks(shard == 0 ? Numbers{{"a", 1}} : Numbers{{"b", 2}}, *communicator);
      if (world.rank() == 0) seen = all;
    });
    return seen;
  };
  CHECK(seen_by_first(1) == Numbers{{"a", 1}});
  CHECK(seen_by_first(2) == Numbers{{"a", 1}, {"what other ranks hold", 2}});
  CHECK(seen_by_first(4) == Numbers{{"a", 1}, {"what other ranks hold", 6}});
}

TEST_CASE("all ranks open the weights that rank 0 finds, and are told of those that have others there") {
  const train::RecipeProgram recipe = training_program<recipes::gpt2>();
  const TemporaryFolder folder;
  const std::string run = folder / "imported",
                    checkpoint = train::import_weights(recipe, fixture("gpt2"), run).checkpoint;
  ChangedWeights other("gpt2");
  other.tensors["transformer.h.1.ln_2.bias"].put(31, 0.5F);
  other.write(folder / "other");

  constexpr int n_ranks = 3;
  std::vector<std::string> opened(n_ranks), said(n_ranks);
  /// @param of_last what the last rank has there
  const auto open = [&](const std::string& path, const std::string& of_last) {
    with_ranks(n_ranks, [&](const World& world) {
      const auto communicator = world.communicator(1, DType::fp32);
      const bool is_last = world.rank() == n_ranks - 1;
      said[world.rank()] = error_of([&] {
        train::open_together("weights.from", path, *communicator, [&](const std::string& found) {
          opened[world.rank()] = found;
          return train::open_weights(is_last && !of_last.empty() ? of_last : found, recipe,
                                     train::facts_that_training_changes());
        });
      });
    });
  };
  open(run, "");
  CHECK(opened == std::vector<std::string>(n_ranks, checkpoint));
  CHECK(said == std::vector<std::string>(n_ranks, "(no error)"));
  open(fixture("gpt2"), "");
  CHECK(opened == std::vector<std::string>(n_ranks, fixture("gpt2")));
  CHECK(said == std::vector<std::string>(n_ranks, "(no error)"));

  for (const std::string& of_last : {folder / "other", checkpoint}) {
    open(fixture("gpt2"), of_last);
    for (const std::string& line : said) {
      CAPTURE(line);
      CHECK(line.starts_with("[WEIGHTS-16] rank 2 would start from other weights than rank 0"));
      CHECK(contains(line, "weights.from"));
    }
  }
  open(run, fixture("gpt2"));
  for (const std::string& line : said) CHECK(line.starts_with("[WEIGHTS-16] rank 2 "));

  open(folder / "nowhere", "");
  CHECK(said[0].starts_with("[RUN-03]"));
  CHECK(said[1].starts_with("[RANK-08]"));
}

}  // namespace monomorph
