// Tables of tokens and of positions in a recipe with other rows, and those that no choice of rows lets in:
// tests/fixtures/weights/README.md says what the fixture is.
#include "fixtures/weights/recipes/gpt2.hpp"
#include "numerics/changed_weights.hpp"
#include "runtime/files/checkpoint_metadata.hpp"
#include "support/training_program.hpp"
#include "weights_check.hpp"

namespace monomorph {
namespace {

using namespace testing;

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
  const train::RecipeProgram recipe = training_program<R>();
  const auto opened = train::open_weights(fixture("gpt2"), recipe, train::facts_that_training_changes());
  train::check_tensors(*opened.source, recipe, choices);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 1, 1);
  train::load_weights(*opened.source, choices, step);
  return values_of(step.parameters());
}
template <Recipe R> std::string refusal_of_resizing(const train::WeightsHparams& choices) {
  const train::RecipeProgram recipe = training_program<R>();
  const auto opened = train::open_weights(fixture("gpt2"), recipe, train::facts_that_training_changes());
  return error_of([&] { train::check_tensors(*opened.source, recipe, choices); });
}
template <Recipe R> Tensors initial() {
  const auto communicator = one_rank();
  return values_of(train::Step<R>(*communicator, 1, 1).parameters());
}
/// Of weights elsewhere, in the recipe of the fixture `gpt2`.
std::string refusal_of_tables(const std::string& path, const train::WeightsHparams& choices) {
  const train::RecipeProgram recipe = training_program<recipes::gpt2>();
  return error_of([&] {
    const auto opened = train::open_weights(path, recipe, train::facts_that_training_changes());
    train::check_tensors(*opened.source, recipe, choices);
  });
}
/// With and without rows that may differ.
std::vector<train::WeightsHparams> ways_to_resize() {
  return {{}, choices(initialized, interpolated), choices(mean, cut), choices(zero, interpolated)};
}

Values rows_of(const Values& values, std::size_t first, std::size_t end) {
  return {values.begin() + static_cast<std::ptrdiff_t>(first * 32),
          values.begin() + static_cast<std::ptrdiff_t>(end * 32)};
}

}  // namespace

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

TEST_CASE("a table without rows is refused by its name, whatever rows may differ") {
  for (const auto& [there, ours] : {std::pair{"transformer.wpe.weight", "position_embedding.weight"},
                                    std::pair{"transformer.wte.weight", "embedding.weight"}}) {
    ChangedWeights changed("gpt2");
    changed.tensors[there].resize_rows(0);
    const TemporaryFolder folder;
    changed.write(folder / "model");
    for (const train::WeightsHparams& choices : ways_to_resize()) {
      const std::string refusal = refusal_of_tables(folder / "model", choices);
      CAPTURE(refusal);
      CHECK(refusal.starts_with("[WEIGHTS-09]"));
      CHECK(contains(refusal, std::string(ours) + " is [0, 32] and "));
    }
    CHECK(contains(refusal_of_tables(folder / "model", choices(mean, interpolated)), "has no elements"));
  }
}

TEST_CASE("a table that has other rows than are said beside it is refused, whatever rows may differ") {
  const auto refusal = [](auto change) {
    ChangedWeights changed("gpt2");
    change(changed);
    const TemporaryFolder folder;
    changed.write(folder / "model");
    return refusal_of_tables(folder / "model", choices(zero, interpolated));
  };
  const auto rows_of_tokens = [](std::int64_t rows) {
    return [rows](ChangedWeights& changed) { changed.tensors["transformer.wte.weight"].resize_rows(rows); };
  };
  for (const std::int64_t rows : {10, 63, 65}) {
    const std::string refused = refusal(rows_of_tokens(rows));
    CAPTURE(refused);
    CHECK(refused.starts_with("[WEIGHTS-09]"));
    CHECK(contains(refused, "embedding.weight is [" + std::to_string(rows) + ", 32] and must have 64 rows"));
  }
  CHECK(contains(refusal([](ChangedWeights& changed) { changed.config["vocab_size"] = 80; }),
                 "embedding.weight is [64, 32] and must have 80 rows"));
  CHECK(contains(refusal([](ChangedWeights& changed) { changed.tensors["transformer.wpe.weight"].resize_rows(8); }),
                 "position_embedding.weight is [8, 32] and must have 16 rows"));
  CHECK(refusal([](ChangedWeights& changed) {
          changed.tensors["transformer.wte.weight"].resize_rows(48);
          changed.config["vocab_size"] = 48;
        }) == "(no error)");
}

TEST_CASE("a checkpoint whose table has other rows than its recipe says is refused") {
  const TemporaryFolder folder;
  const std::string checkpoint =
      train::import_weights(training_program<recipes::gpt2>(), fixture("gpt2"), folder / "imported").checkpoint;
  CHECK(refusal_of_tables(checkpoint, choices(zero, interpolated)) == "(no error)");
  auto metadata = runtime::read_checkpoint_metadata(checkpoint);
  metadata.recipe_facts.at("model.vocab_size") = "65";
  write_bytes(checkpoint + "/metadata.json", runtime::checkpoint_metadata::to_json(metadata));
  CHECK(contains(refusal_of_tables(checkpoint, choices(zero, interpolated)),
                 "embedding.weight is [64, 32] and must have 65 rows"));
}

}  // namespace monomorph
