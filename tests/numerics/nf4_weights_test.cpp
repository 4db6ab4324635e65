// Weights that come to a base in NF4 and leave it: from a folder, from and to checkpoints, merged, and refused.
#include "fixtures/weights/recipes/llama.hpp"
#include "support/error_of.hpp"
#include "support/one_sequence.hpp"
#include "support/training_program.hpp"
#include "train/weights/checkpoint_weights.hpp"
#include "weights_check.hpp"

#include <monomorph/runtime/kernels/nf4.hpp>
#include <monomorph/train/step/quantized_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace monomorph {
namespace {

using namespace testing;

template <class R> struct InBf16 : R { using precision = precision::Bf16Mixed; };
struct adapted : recipes::llama {
  using finetuning = finetuning::LowRank<
      LowRankSpec{.rank = 4,
                  .alpha = 6,
                  .rank_stabilised = true,
                  .dropout = 0.1,
                  .targets = {.key = true, .output = true, .gate = true, .up = true, .down = true}}>;
};
struct in_nf4 : adapted {
  using finetuning = monomorph::finetuning::Nf4Base<adapted::finetuning>;
};

const std::string adapters = MONOMORPH_SOURCE_DIR "/tests/fixtures/adapters/llama";

std::map<std::string, std::string> bytes_in_nf4(train::InferenceModel& model) {
  std::map<std::string, std::string> bytes;
  for (const train::QuantizedMatrix& matrix : model.quantized())
    for (const train::StateTensor& part : held_parts(matrix))
      bytes[part.name] =
          std::string(reinterpret_cast<const char*>(part.view.data), static_cast<std::size_t>(part.view.bytes()));
  return bytes;
}
void load(const std::string& from, const train::RecipeProgram& recipe, train::TrainingStep& step) {
  const auto opened = train::open_weights(from, recipe, train::facts_that_training_changes());
  train::check_tensors(*opened.source, recipe, {});
  train::load_weights(*opened.source, {}, step);
}

/// Of what is there in NF4, the bytes; of numbers, those of the dtype of compute, quantised.
template <Recipe R> void check_quantized_from_folder() {
  const train::RecipeProgram recipe = training_program<R>();
  Model<R> model;
  const auto before = bytes_in_nf4(model.step);
  load(fixture("llama"), recipe, model.step);
  const auto loaded = bytes_in_nf4(model.step);
  CHECK(loaded.size() == 4 * 2 * 7);
  const train::FolderTensors files(fixture("llama"));
  const auto& down = *files.find("model.layers.1.mlp.down_proj.weight");
  const View in_file(const_cast<std::byte*>(down.file->data(*down.entry)), DType::fp32, {1, 32 * 48});
  std::vector<std::byte> bytes(32 * 48 * size_of(R::precision::compute_dtype));
  const View rounded(bytes.data(), R::precision::compute_dtype, {1, 32 * 48});
  cpu::copy({}, in_file, rounded);
  const train::Nf4Buffer expected(32 * 48);
  cpu::quantize_nf4({}, rounded, expected.matrix());
  const auto is = [&](const std::string& part, const View& view) {
    const std::string& actual = loaded.at("layers.1.mlp.down.weight." + part);
    return actual == std::string(reinterpret_cast<const char*>(view.data), static_cast<std::size_t>(view.bytes()));
  };
  CHECK(is("codes", expected.matrix().codes));
  CHECK(is("absmax", expected.matrix().absmax));
  CHECK(is("nested_absmax", expected.matrix().nested_absmax));
  CHECK(is("offset", expected.matrix().offset));
  CHECK(before != loaded);
}

}  // namespace

TEST_CASE("a base in NF4 is made of the weights of a folder, in the dtype of compute") {
  check_quantized_from_folder<in_nf4>();
  check_quantized_from_folder<InBf16<in_nf4>>();
}

TEST_CASE(
    "an import holds the base in NF4, and all that takes weights takes it: steps, generation, an export, other "
    "recipes") {
  const train::RecipeProgram recipe = detail::program_of<in_nf4>(), plain = training_program<adapted>(),
                             base = training_program<recipes::llama>();
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, fixture("llama"), folder / "imported", adapters);
  CHECK(imported.notes.empty());
  Model<in_nf4> restored;
  train::restore_run(imported.checkpoint, recipe, restored.step, false);
  const Values logits = restored.outputs("../adapters/llama");
  Model<in_nf4> started;
  load(fixture("llama"), recipe, started.step);
  CHECK(bytes_in_nf4(started.step) == bytes_in_nf4(restored.step));

  SECTION("a run that begins with a checkpoint has its bytes") {
    Model<in_nf4> begun;
    load(imported.checkpoint, recipe, begun.step);
    CHECK(bytes_in_nf4(begun.step) == bytes_in_nf4(restored.step));
    CHECK(begun.outputs("../adapters/llama") == logits);
  }
  SECTION("a recipe whose base is not in NF4 begins with the numbers that are made of it") {
    Model<adapted> begun;
    load(imported.checkpoint, plain, begun.step);
    CHECK(begun.outputs("../adapters/llama") == logits);
  }
  SECTION("a model that only generates has its bytes, and the logits of those numbers") {
    CHECK(recipe.caches_tokens);
    const auto communicator = one_rank();
    const auto model = recipe.make_inference_model(*communicator, 0, recipe.hparams.objective);
    train::restore_model(imported.checkpoint, recipe, *model);
    CHECK(bytes_in_nf4(*model) == bytes_in_nf4(restored.step));
    Model<adapted, train::GeneratingStep<adapted>> begun;
    load(imported.checkpoint, plain, begun.step);
    OneSequence here(*model, in_nf4::model.context_length), there(begun.step, in_nf4::model.context_length);
    for (const std::int32_t token : {3, 1, 4, 1, 5}) {
      const float *actual = here.feed(token), *expected = there.feed(token);
      CHECK(std::equal(actual, actual + in_nf4::model.vocab_size, expected));
    }
  }
  SECTION("an export has them merged with the adapters") {
    train::export_folder(recipe, imported.checkpoint, folder / "merged", {});
    const auto merged = train::import_weights(base, folder / "merged", folder / "merged_imported");
    Model<recipes::llama> alone;
    train::restore_run(merged.checkpoint, base, alone.step, false);
    CHECK(relative_error(alone.outputs("../adapters/llama"), logits) < 1e-5);
  }
}

TEST_CASE("in NF4 a model is near what it is in full") {
  const train::RecipeProgram recipe = training_program<in_nf4>();
  const TemporaryFolder folder;
  const auto imported = train::import_weights(recipe, fixture("llama"), folder / "imported", adapters);
  Model<in_nf4> model;
  train::restore_run(imported.checkpoint, recipe, model.step, false);
  const Values expected = values_of(runtime::SafetensorsFile::open(adapters + "/expected.safetensors"), "logits");
  const double error = relative_error(model.outputs("../adapters/llama"), expected);
  CHECK(error > 1e-3);
  CHECK(error < 0.6);
}

TEST_CASE("a run with a base in NF4 does not go on from a checkpoint whose base is in full") {
  const train::RecipeProgram recipe = training_program<in_nf4>(), plain = training_program<adapted>();
  const TemporaryFolder folder;
  const auto of_adapted = train::import_weights(plain, fixture("llama"), folder / "plain", adapters);
  Model<in_nf4> model;
  CHECK(
      error_of([&] { train::restore_run(of_adapted.checkpoint, recipe, model.step, false); }).starts_with("[RUN-04]"));
}

namespace {

const std::string by_bitsandbytes = MONOMORPH_SOURCE_DIR "/tests/fixtures/nf4/llama",
                  with_fp32_scales = MONOMORPH_SOURCE_DIR "/tests/fixtures/nf4/llama_fp32_scales";

std::string bytes_of(const train::FolderTensors& files, const std::string& name) {
  const auto& tensor = *files.find(name);
  return {reinterpret_cast<const char*>(tensor.file->data(*tensor.entry)), tensor.entry->end - tensor.entry->begin};
}

/// The folder with another text in the place of one that is as long.
std::string refused_with(const std::string& from, const std::string& to,
                         const std::string& quantized = by_bitsandbytes) {
  const TemporaryFolder folder;
  std::string weights = read_bytes(quantized + "/model.safetensors");
  REQUIRE(from.size() == to.size());
  REQUIRE(weights.find(from) != std::string::npos);
  weights.replace(weights.find(from), from.size(), to);
  write_bytes(folder / "model.safetensors", weights);
  write_bytes(folder / "config.json", read_bytes(quantized + "/config.json"));
  return error_of(
      [&] { train::open_weights(folder.path(), training_program<in_nf4>(), train::facts_that_training_changes()); });
}

}  // namespace

TEST_CASE("a folder that bitsandbytes has quantised keeps its bytes, or gives the numbers that are made of them") {
  Model<in_nf4> model;
  load(by_bitsandbytes, training_program<in_nf4>(), model.step);
  const auto loaded = bytes_in_nf4(model.step);
  const train::FolderTensors files(by_bitsandbytes);
  const auto expected = runtime::SafetensorsFile::open(by_bitsandbytes + "/expected.safetensors");
  const std::string theirs = "model.layers.1.self_attn.k_proj.weight", ours = "layers.1.attention.k.weight";
  CHECK(loaded.at(ours + ".codes") == bytes_of(files, theirs));
  CHECK(loaded.at(ours + ".absmax") == bytes_of(files, theirs + ".absmax"));
  CHECK(loaded.at(ours + ".nested_absmax") == bytes_of(files, theirs + ".nested_absmax"));

  Model<recipes::llama> plain;
  load(by_bitsandbytes, training_program<recipes::llama>(), plain.step);
  CHECK(values_of(plain.step.parameters()).at(ours) == values_of(expected, theirs));
  Model<adapted> begun;
  load(by_bitsandbytes, training_program<adapted>(), begun.step);
  CHECK(relative_error(model.outputs("llama"), begun.outputs("llama")) == 0);
}

TEST_CASE(
    "of a folder whose scales are in fp32 the numbers are bitsandbytes', or codes are kept and scales quantised") {
  const std::string theirs = "model.layers.1.self_attn.k_proj.weight", ours = "layers.1.attention.k.weight";
  const auto expected = runtime::SafetensorsFile::open(with_fp32_scales + "/expected.safetensors");
  Model<recipes::llama> plain;
  load(with_fp32_scales, training_program<recipes::llama>(), plain.step);
  CHECK(values_of(plain.step.parameters()).at(ours) == values_of(expected, theirs));

  const train::RecipeProgram recipe = training_program<in_nf4>();
  const auto opened = train::open_weights(with_fp32_scales, recipe, train::facts_that_training_changes());
  CHECK(opened.source->note_of_reading().empty());
  Model<in_nf4> model;
  train::load_weights(*opened.source, {}, model.step);
  const auto loaded = bytes_in_nf4(model.step);
  const train::FolderTensors files(with_fp32_scales);
  CHECK(loaded.at(ours + ".codes") == bytes_of(files, theirs));
  std::string absmax = bytes_of(files, theirs + ".absmax");
  const train::Nf4Buffer quantized(16 * 32);
  cpu::quantize_absmax({}, View(reinterpret_cast<std::byte*>(absmax.data()), DType::fp32, {1, 16 * 32 / 64}),
                       quantized.matrix());
  CHECK(loaded.at(ours + ".absmax") ==
        std::string(reinterpret_cast<const char*>(quantized.matrix().absmax.data), absmax.size() / sizeof(float)));

  // They change by what is said, and with them the numbers.
  const std::string note = opened.source->note_of_reading();
  CAPTURE(note);
  const std::string before = "they change by ";
  REQUIRE(contains(note, before));
  const double percent = std::stod(note.substr(note.find(before) + before.size()));
  CHECK(percent > 0.01);
  CHECK(percent < 2);
  const TemporaryFolder folder;
  const auto imported = train::import_weights(training_program<in_nf4>(), with_fp32_scales, folder / "run", adapters);
  REQUIRE(imported.notes.size() == 1);
  CHECK(imported.notes.front() == note);
  std::memcpy(quantized.matrix().codes.data, loaded.at(ours + ".codes").data(), 16 * 32 / 2);
  Values packed(16 * 32);
  cpu::dequantize_nf4({}, quantized.matrix(), View(reinterpret_cast<std::byte*>(packed.data()), DType::fp64, {1, 512}));
  CHECK(relative_error(packed, values_of(expected, theirs)) < 0.02);
}

TEST_CASE("blocks of zeros stay zeros where their scales in fp32 are quantised, whatever their codes") {
  const std::string theirs = "model.layers.1.self_attn.k_proj.weight", ours = "layers.1.attention.k.weight";
  const train::FolderTensors files(with_fp32_scales);
  std::map<std::string, std::string> contents;
  for (const auto& [name, tensor] : files.all()) contents[name] = bytes_of(files, name);
  contents.at(theirs).replace(0, 32, std::string(32, '\0'));
  contents.at(theirs + ".absmax").replace(0, 4, std::string(4, '\0'));
  std::vector<runtime::TensorToWrite> to_write;
  for (const auto& [name, tensor] : files.all())
    to_write.push_back({.name = name,
                        .dtype = tensor.entry->dtype,
                        .shape = tensor.entry->shape,
                        .data = reinterpret_cast<const std::byte*>(contents.at(name).data())});
  const TemporaryFolder folder;
  runtime::write_safetensors(folder / "model.safetensors", to_write, {});
  write_bytes(folder / "config.json", read_bytes(with_fp32_scales + "/config.json"));
  Model<in_nf4> model;
  load(folder.path(), training_program<in_nf4>(), model.step);
  CHECK(bytes_in_nf4(model.step).at(ours + ".codes") == std::string(32, '\x77') + contents.at(theirs).substr(32));
  Model<recipes::llama> plain;
  load(folder.path(), training_program<recipes::llama>(), plain.step);
  const Values numbers = values_of(plain.step.parameters()).at(ours);
  CHECK(std::all_of(numbers.begin(), numbers.begin() + 64, [](double number) { return number == 0; }));
  CHECK(std::any_of(numbers.begin() + 64, numbers.begin() + 128, [](double number) { return number != 0; }));
}

TEST_CASE("a folder that is quantised otherwise is refused by what differs") {
  CHECK(refused_with("\"quant_type\": \"nf4\"", "\"quant_type\": \"fp4\"").starts_with("[WEIGHTS-07]"));
  CHECK(refused_with("\"blocksize\": 64", "\"blocksize\": 32").starts_with("[WEIGHTS-07]"));
  CHECK(refused_with("\"nested_offset\": 0.", "\"nested_offset\": 9e").starts_with("[WEIGHTS-07]"));
  CHECK(refused_with("\"shape\": [16, 32]", "\"shape\": [16, 33]").starts_with("[WEIGHTS-07]"));
  CHECK(refused_with("q_proj.weight.nested_absmax", "q_proj.weight.nested_abmaxs").starts_with("[WEIGHTS-07]"));
  CHECK(refused_with("\"blocksize\": 64", "\"blocksize\": 32", with_fp32_scales).starts_with("[WEIGHTS-07]"));
  CHECK(refused_with("q_proj.weight.absmax", "q_proj.weight.abmaxs", with_fp32_scales).starts_with("[WEIGHTS-07]"));
  const TemporaryFolder folder;
  std::string config = read_bytes(by_bitsandbytes + "/config.json");
  config.replace(config.find("\"load_in_4bit\": true"), 20, "\"load_in_4bit\": null");
  write_bytes(folder / "config.json", config);
  const std::string refused = error_of([&] { train::read_folder_model(folder.path()); });
  CAPTURE(refused);
  CHECK(refused.starts_with("[WEIGHTS-04]"));
  CHECK(contains(refused, "quantization_config"));
}

namespace {

/// Weights of which one is no number, or a scale of those in NF4.
class Broken : public train::WeightsSource {
 public:
  Broken(train::WeightsSource& source, bool is_packed) : source_(source), is_packed_(is_packed) {}
  std::string where() const override { return source_.where(); }
  std::vector<std::string> unused() const override { return {}; }
  const Shape* find(const std::string& name) const override { return source_.find(name); }
  void read(const std::string& name, std::int64_t first, View to) override {
    source_.read(name, first, to);
    if (name == "layers.0.attention.v.weight") to.as<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  }
  bool read_nf4(const std::string& name, const Nf4Matrix& to) override {
    if (is_packed_ && name == "layers.0.attention.v.weight")
      *to.offset.as<float>() = std::numeric_limits<float>::infinity();
    return is_packed_;
  }

 private:
  train::WeightsSource& source_;
  bool is_packed_;
};

}  // namespace

TEST_CASE("what is no number is refused where it is to be quantised") {
  const train::RecipeProgram recipe = training_program<in_nf4>();
  const auto opened = train::open_weights(fixture("llama"), recipe, train::facts_that_training_changes());
  for (const bool is_packed : {false, true}) {
    Broken broken(*opened.source, is_packed);
    Model<in_nf4> model;
    const std::string refused = error_of([&] { train::load_weights(broken, {}, model.step); });
    CAPTURE(refused);
    CHECK(refused.starts_with("[WEIGHTS-13] 1 of the numbers of layers.0.attention.v.weight"));
  }
}

}  // namespace monomorph
