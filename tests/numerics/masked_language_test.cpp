// The head for masked tokens that BERT has, against that of Hugging Face's transformers: logits, a loss, and the
// gradients that PyTorch's autograd makes of it in fp64 (tests/fixtures/weights/README.md).
#include "fixtures/weights/recipes/gpt2.hpp"
#include "numerics/adapters_check.hpp"
#include "numerics/perturb.hpp"
#include "support/adamw_update.hpp"
#include "support/one_sequence.hpp"
#include "support/training_program.hpp"
#include "train/weights/tensor_places.hpp"
#include "weights_check.hpp"

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/model/masked_language_head.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace monomorph {
namespace {

using namespace testing;

constexpr std::int64_t context = 16, vocabulary = 64;

/// The model of the fixture `masked_bert`.
struct masked_bert {
  static constexpr MaskedLanguageSpec model{.trunk = {.vocab_size = vocabulary,
                                                      .n_layers = 3,
                                                      .n_heads = 4,
                                                      .d_model = 32,
                                                      .context_length = context,
                                                      .d_ff = 48,
                                                      .norm = {.epsilon = 1e-12},
                                                      .activation = Activation::gelu_exact}};
  using layers = Stack<Run<Composed<BlockOrder::normed_residual>::Block, 3>>;
  using attention = monomorph::attention::Bidirectional;
  using objective = monomorph::objective::MaskedTokens<3>;
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};
template <class Checkpointing> struct InFp64 : masked_bert {
  using precision = monomorph::precision::Fp64;
  using checkpointing = Checkpointing;
};
/// Its logits can be made token by token; its table is padded.
struct Causal : masked_bert {
  static constexpr MaskedLanguageSpec model = [] {
    MaskedLanguageSpec model = masked_bert::model;
    model.trunk.activation = Activation::swiglu;
    model.trunk.vocab_multiple = 48;
    return model;
  }();
  using layers = Stack<Run<DecoderBlock, 3>>;
  using attention = monomorph::attention::Causal;
  using objective = monomorph::objective::NextToken;
};

/// Its caps are felt by most scores and logits.
struct Capped : Causal {
  static constexpr MaskedLanguageSpec model = [] {
    MaskedLanguageSpec model = Causal::model;
    model.trunk.soft_cap = {.scores = 0.5, .logits = 0.7};
    return model;
  }();
};
struct CappedInFp64 : Capped {
  using precision = monomorph::precision::Fp64;
};

std::vector<std::int32_t> ids_to_see() {
  std::vector<std::int32_t> ids(context);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * 17 % vocabulary);
  return ids;
}

std::vector<std::int32_t> targets_of(const runtime::SafetensorsFile& expected) {
  std::vector<std::int32_t> targets = ids_of(expected, "targets");
  for (std::int32_t& target : targets)
    if (target < 0) target = ignored_target;
  return targets;
}

/// The gradients of a step have the names of the recipe, and those of the fixture the names of its files.
void check_gradients(const train::RecipeProgram& recipe, const Tensors& gradients,
                     const runtime::SafetensorsFile& expected) {
  std::size_t n_compared = 0;
  for (const train::PlacedTensor& placed : train::placed_tensors(train::masked_bert, recipe, 0)) {
    if (placed.parts.empty()) continue;  // of token types
    CAPTURE(placed.name);
    const Values &made = gradients.at(placed.parts.front().name),
                 wanted = values_of(expected, "gradient." + placed.name);
    REQUIRE(made.size() == wanted.size());
    double difference = 0, norm = 1e-3;  // keys' biases have none
    for (std::size_t i = 0; i < made.size(); ++i) {
      difference += (made[i] - wanted[i]) * (made[i] - wanted[i]);
      norm += wanted[i] * wanted[i];
    }
    CHECK(std::sqrt(difference / norm) < 1e-6);
    ++n_compared;
  }
  CHECK(n_compared == gradients.size());
}

}  // namespace

TEST_CASE("a BERT for masked tokens travels with its head") { check_travels<masked_bert>("masked_bert"); }
TEST_CASE("adapters of a BERT for masked tokens travel, merged and alone") {
  using adapted = Adapted<masked_bert, LowRankSpec{.rank = 2, .alpha = 2, .targets = {.query = false, .up = true}}>;
  check_travels_adapted<adapted, masked_bert>("masked_bert");
}

TEMPLATE_TEST_CASE("the gradients of BERT's head for masked tokens are autograd's", "", checkpointing::KeepAll,
                   checkpointing::EveryBlock) {
  using R = InFp64<TestType>;
  const train::RecipeProgram recipe = training_program<R>();
  const auto expected = runtime::SafetensorsFile::open(fixture("masked_bert") + "/expected.safetensors");
  const std::vector<std::int32_t> ids = ids_of(expected, "input_ids"), targets = targets_of(expected);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 1, 3);
  const auto opened = train::open_weights(fixture("masked_bert"), recipe, train::facts_that_import_changes());
  train::load_weights(*opened.source, {}, step);
  double loss = 0;
  for (const std::int64_t i : {0, 1})
    loss += accumulate(step, {ids.data() + i * context, targets.data() + i * context, 0}, 1, {i, 2}).loss;
  CHECK(loss == Approx(values_of(expected, "loss").front()).epsilon(1e-10));
  check_gradients(recipe, values_of(step.gradients()), expected);
}

TEMPLATE_TEST_CASE("BERT's head makes of each token, one behind the other, what it makes of all at once", "", Causal,
                   Capped) {
  const auto communicator = one_rank();
  train::GeneratingStep<TestType> step(*communicator, 1, 3);
  perturb(step);
  const std::vector<std::int32_t> ids = ids_to_see();
  step.evaluate({ids.data(), ids.data(), 0});
  const Values at_once = values_of(step.state().activations.statistics()[step.head().logits_CV]);
  constexpr std::size_t width = trunk_of<TestType>.padded_vocab();
  OneSequence sequence(step, context);
  for (std::size_t token = 0; token < ids.size(); ++token) {
    const float* const logits = sequence.feed(ids[token]);
    for (std::size_t id = 0; id < vocabulary; ++id)
      CHECK(logits[id] == Approx(at_once[token * width + id]).epsilon(1e-4).margin(1e-5));
  }
}

TEST_CASE("the gradients of BERT's head under soft caps are the slope of its loss") {
  const auto communicator = one_rank();
  train::Step<CappedInFp64> step(*communicator, 1, 3);
  CHECK(step.state().arena().unused_bytes() == 0);
  perturb(step);
  const std::vector<std::int32_t> ids = ids_to_see(), targets(ids.rbegin(), ids.rend());
  const auto loss = [&] { return accumulate(step, {ids.data(), targets.data(), 0}, 1, {}).loss; };
  const auto move = [&](double distance) {  // along all parameters at once
    for (const train::StateTensor& tensor : step.parameters()) {
      Values values = values_of(tensor.view);
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += distance * std::cos(static_cast<double>(i));
      assign(tensor.view, values);
    }
    step.parameters_changed();
  };
  loss();
  double slope = 0;
  for (const auto& [name, values] : values_of(step.gradients()))
    for (std::size_t i = 0; i < values.size(); ++i) slope += values[i] * std::cos(static_cast<double>(i));
  constexpr double distance = 1e-5;
  move(distance);
  const double above = loss();
  move(-2 * distance);
  CHECK((above - loss()) / (2 * distance) == Approx(slope).epsilon(1e-7));
}

template <std::int64_t vocabulary> struct masked_bert_resized : masked_bert {
  static constexpr auto model = [] {
    auto model = masked_bert::model;
    model.trunk.vocab_size = vocabulary;
    return model;
  }();
};
template <class R> Values resized_bias(train::VocabularyRows rows) {
  const train::RecipeProgram recipe = training_program<R>();
  train::WeightsHparams choices;
  choices.vocabulary.value = rows;
  const auto opened = train::open_weights(fixture("masked_bert"), recipe, train::facts_that_training_changes());
  train::check_tensors(*opened.source, recipe, choices);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, 1, 1);
  train::load_weights(*opened.source, choices, step);
  return values_of(step.parameters()).at("head.bias");
}

TEST_CASE("where the vocabulary has another size, so has the bias of BERT's head") {
  const Values there =
      values_of(runtime::SafetensorsFile::open(fixture("masked_bert") + "/model.safetensors"), "cls.predictions.bias");
  const std::size_t n = there.size();
  const Values smaller = resized_bias<masked_bert_resized<48>>(train::VocabularyRows::mean),
               zeroed = resized_bias<masked_bert_resized<80>>(train::VocabularyRows::zero),
               meant = resized_bias<masked_bert_resized<80>>(train::VocabularyRows::mean);
  REQUIRE(smaller.size() == 48);
  REQUIRE(zeroed.size() == 80);
  CHECK(std::equal(smaller.begin(), smaller.end(), there.begin()));
  CHECK(std::equal(there.begin(), there.end(), zeroed.begin()));
  CHECK(std::equal(there.begin(), there.end(), meant.begin()));
  const double mean = std::accumulate(there.begin(), there.end(), 0.0) / static_cast<double>(n);
  for (std::size_t i = n; i < 80; ++i) {
    CHECK(zeroed[i] == 0);
    CHECK(meant[i] == Approx(mean).epsilon(1e-6));
  }
  CHECK(contains(error_of([] { resized_bias<masked_bert_resized<80>>(train::VocabularyRows::must_match); }),
                 "and must be [80, "));
}

TEST_CASE("what no file of a BERT for masked tokens has is refused by its name") {
  const train::RecipeProgram recipe = training_program<masked_bert>();
  check_refused(recipe, "output is logits of masked tokens in the recipe, and hidden states in roberta",
                &train::roberta);
  const TemporaryFolder folder;
  const auto refusal = [&](const std::string& from) {
    return error_of([&] { train::import_weights(recipe, from, folder / "imported"); });
  };
  CHECK(contains(refusal(fixture("bert")), "head.bias is missing"));
  CHECK(contains(refusal(fixture("gpt2")), "output is logits there, and logits of masked tokens here"));
  std::string config = read_bytes(fixture("masked_bert") + "/config.json");
  write_bytes(folder / "model.safetensors", read_bytes(fixture("masked_bert") + "/model.safetensors"));
  write_bytes(folder / "config.json", config.replace(config.find('{'), 1, "{\"tie_word_embeddings\": false,"));
  CHECK(contains(refusal(folder / "."), "model.tied_head is false there, and true here"));
}

}  // namespace monomorph
