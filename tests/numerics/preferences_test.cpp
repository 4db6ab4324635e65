// The objective of preferences against autograd in fp64: losses, metrics, log-probabilities and all gradients, of all
// parameters and of adapters, in one chunk of tokens and in several; what padding and dropout leave alone; and an
// objective over sequences of one's own.
#include "numerics/preferences.hpp"
#include "numerics/perturb.hpp"
#include "numerics/schedule_recipes.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/reference_model.hpp"
#include "support/tensors.hpp"

#include <monomorph/objective/preferences.hpp>
#include <monomorph/runtime/comm/world.hpp>

#include <cmath>

namespace monomorph::testing {
namespace {

using objective::Preferences;
constexpr std::int64_t T = 24, V = 50;

constexpr DecoderSpec shrunk(DecoderSpec model) {
  model.n_layers = 2;
  model.d_model = 16;
  model.d_ff = 24;
  model.context_length = T;
  model.dropout = {};
  return model;
}
template <class Base> struct Comparing : Base {
  static constexpr DecoderSpec model = shrunk(Base::model);
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp64;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Causal>;
  using objective = Preferences;
};
template <class R> struct Recomputed : R { using checkpointing = monomorph::checkpointing::EveryBlock; };
template <class R> struct Adapted : R {
  using finetuning = monomorph::finetuning::LowRank<LowRankSpec{.rank = 3, .alpha = 6, .targets = {.up = true}}>;
};
static_assert(loss_chunk_tokens<Comparing<llama_like>>(4096) == 512);
constexpr std::int64_t in_one_chunk = 6, in_two_chunks = 40;  // samples
static_assert(in_one_chunk * T < 512 && in_two_chunks * T > 512);

Preferences::Hparams hparams(double beta, PreferenceLoss kind, double label_smoothing = 0) {
  Preferences::Hparams values;
  values.beta.value = beta;
  values.kind.value = kind;
  values.label_smoothing.value = label_smoothing;
  return values;
}

void check_close(double actual, double expected) { CHECK(actual == Approx(expected).epsilon(1e-10)); }

void check_sums(const LossSum& actual, const ReferencePreferences& expected) {
  check_close(actual.loss, expected.loss);
  for (std::size_t i = 0; i < expected.metrics.size(); ++i) check_close(actual.metrics[i], expected.metrics[i]);
}

template <Recipe R> std::vector<ReferenceLayer> layers() {
  ReferenceLayer layer{R::model};
  if constexpr (HasAdapters<R>) layer.low_rank = R::finetuning::low_rank;
  return std::vector<ReferenceLayer>(static_cast<std::size_t>(R::model.n_layers), layer);
}

template <Recipe R> void check_against_autograd(const Preferences::Hparams& loss, std::int64_t B) {
  CAPTURE(B, loss.beta.value, loss.label_smoothing.value);
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, B, 3, 0, loss);
  CHECK(step.state().arena().unused_bytes() == 0);
  perturb(step);
  const Tensors parameters = values_of(step.parameters());
  const PreferenceSamples samples(B, T, V);
  const ReferenceBatch batch{.ids = samples.inputs,
                             .targets = samples.targets,
                             .document_starts = samples.starts,
                             .layers = layers<R>()};
  const ReferencePreferences expected = reference_preferences(R::model, parameters, batch,
                                                              {.log_probabilities = samples.reference,
                                                               .beta = loss.beta,
                                                               .label_smoothing = loss.label_smoothing,
                                                               .squared = loss.kind.value == PreferenceLoss::squared});
  const LossSum sum = accumulate(step, samples.from(0), 1, {0, 1});
  check_sums(sum, expected);
  CHECK(sum.tokens == B - (B + 2) / 5);
  CHECK(relative_error(values_of(step.log_probabilities()), expected.log_probabilities) < 1e-12);
  Tensors gradients = expected.gradients;
  if (HasAdapters<R>)
    std::erase_if(gradients, [](const auto& tensor) { return tensor.first.find(".lora_") == std::string::npos; });
  const Difference worst = worst_difference(values_of(step.gradients()), gradients);
  INFO(worst.name);
  CHECK(worst.error < 1e-9);
  const LossSum evaluated = step.evaluate(samples.from(0));
  check_sums(evaluated, expected);
  CHECK(evaluated.tokens == sum.tokens);
}

}  // namespace

TEST_CASE("losses, metrics and gradients of preferences are those of autograd") {
  for (const std::int64_t B : {in_one_chunk, in_two_chunks}) {
    check_against_autograd<Comparing<llama_like>>(hparams(0.1, PreferenceLoss::sigmoid), B);
    check_against_autograd<Comparing<llama_like>>(hparams(2, PreferenceLoss::sigmoid, 0.2), B);
    check_against_autograd<Comparing<llama_like>>(hparams(0.3, PreferenceLoss::squared), B);
    check_against_autograd<Comparing<llama_like>>(hparams(0.7, PreferenceLoss::squared, 0.3), B);
  }
  check_against_autograd<Comparing<gpt2_like>>(hparams(0.5, PreferenceLoss::sigmoid), in_two_chunks);
  check_against_autograd<Recomputed<Comparing<llama_like>>>(hparams(0.5, PreferenceLoss::sigmoid), in_one_chunk);
}

TEST_CASE("preferences of a model with soft caps have the losses, metrics and gradients of autograd") {
  for (const std::int64_t B : {in_one_chunk, in_two_chunks})
    check_against_autograd<Capped<Comparing<llama_like>>>(hparams(0.5, PreferenceLoss::sigmoid), B);
  check_against_autograd<Recomputed<Capped<Comparing<gpt2_like>>>>(hparams(0.3, PreferenceLoss::squared), in_one_chunk);
}

TEST_CASE("adapters learn preferences by the gradients of autograd") {
  check_against_autograd<Adapted<Comparing<llama_like>>>(hparams(0.5, PreferenceLoss::sigmoid), in_two_chunks);
}

TEST_CASE("the model that a run starts from is no better than its own reference: every pair costs ln 2") {
  const auto communicator = one_rank();
  train::Step<Comparing<llama_like>> step(*communicator, in_two_chunks, 3, 0, hparams(0.1, PreferenceLoss::sigmoid));
  perturb(step);
  PreferenceSamples samples(in_two_chunks, T, V);
  step.evaluate(samples.from(0));
  samples.reference = values_of(step.log_probabilities());
  const LossSum sum = accumulate(step, samples.from(0), 1, {0, 1});
  CHECK(sum.loss == Approx(static_cast<double>(sum.tokens) * std::log(2)).epsilon(1e-14));
  CHECK(sum.metrics == std::array<double, 4>{});
}

TEST_CASE("a sample that lacks a sequence counts for nothing, and what its tokens are changes no bit") {
  const auto trained = [](const PreferenceSamples& samples) {
    const auto communicator = one_rank();
    train::Step<Comparing<llama_like>> step(*communicator, in_one_chunk, 3, 0, hparams(1, PreferenceLoss::sigmoid));
    const LossSum sum = accumulate(step, samples.from(0), 1, {0, 1});
    return std::tuple(sum.loss, sum.metrics, values_of(step.gradients()));
  };
  const PreferenceSamples samples(in_one_chunk, T, V);
  PreferenceSamples other = samples;
  for (std::int64_t t = 2 * T; t < 3 * T; ++t) other.inputs[static_cast<std::size_t>(t)] = 1;  // sample 2
  for (std::int64_t i = 0; i < in_one_chunk * T; ++i)                                          // padding
    if (const auto at = static_cast<std::size_t>(i); samples.starts[at] > T / 2) other.inputs[at] = 7;
  CHECK(trained(other) == trained(samples));
}

TEST_CASE("gradients are multiplied by the loss scale, and accumulate over micro-batches") {
  const auto communicator = one_rank();
  const Preferences::Hparams loss = hparams(0.5, PreferenceLoss::sigmoid);
  const PreferenceSamples samples(2 * in_one_chunk, T, V);
  using R = Comparing<llama_like>;
  train::Step<R> whole(*communicator, 2 * in_one_chunk, 3, 0, loss), parted(*communicator, in_one_chunk, 3, 0, loss);
  accumulate(whole, samples.from(0), 1, {0, 1});
  set_loss_scale(parted, 8);
  for (std::int64_t i = 0; i < 2; ++i) accumulate(parted, samples.from(i * in_one_chunk), 1, {i, 2});
  Tensors scaled = values_of(whole.gradients());
  for (auto& [name, values] : scaled)
    for (double& value : values) value *= 8;
  CHECK(worst_difference(values_of(parted.gradients()), scaled).error < 1e-12);
}

namespace {
/// -log sigmoid of the difference of the log-probabilities per token: without a reference, and of one's own.
struct Hinge {
  struct Hparams {};
  using needs = KernelSets<kernels::OwnArithmetic>;
  static constexpr int sequences_per_sample = 2;
  static constexpr std::array<ObjectiveMetric, 1> metrics{{{"tokens", MetricKind::sum}}};
  template <class Queue> static auto loss(Queue queue, const auto& sequences, const Hparams&) {
    each_sample(queue, sequences, [](const SampleSequences& sample) {
      const double n = static_cast<double>(sample.tokens(0)), m = static_cast<double>(sample.tokens(1));
      const double excess = 1 - sample.log_probability(0) / n + sample.log_probability(1) / m;
      if (excess > 0) sample.set_gradient(0, -1 / n), sample.set_gradient(1, 1 / m);
      return std::array{std::max(0.0, excess), n + m};
    });
  }
};
struct HingeRecipe : Comparing<llama_like> {
  using objective = Hinge;
};
}  // namespace

TEST_CASE("an objective over sequences of one's own needs the arithmetic of a sample alone") {
  const auto communicator = one_rank();
  train::Step<HingeRecipe> step(*communicator, in_two_chunks, 3, 0, {});
  perturb(step);
  const PreferenceSamples samples(in_two_chunks, T, V);
  const auto loss_at = [&](double change) {
    for (const train::StateTensor& tensor : step.parameters()) {
      if (tensor.name != "layers.1.mlp.up.weight") continue;
      Values values = values_of(tensor.view);
      values[5] += change;
      assign(tensor.view, values);
    }
    step.parameters_changed();
    return step.evaluate(samples.from(0)).loss;
  };
  const LossSum sum = accumulate(step, samples.from(0), 1, {0, 1});
  CHECK(sum.tokens == 32);
  CHECK(sum.metrics[0] > 32);
  const double gradient = values_of(step.gradients()).at("layers.1.mlp.up.weight")[5], h = 1e-5;
  const double above = loss_at(h), below = loss_at(-2 * h);
  CHECK(gradient == Approx((above - below) / (2 * h)).epsilon(1e-6));
}

}  // namespace monomorph::testing

BOOST_HANA_ADAPT_STRUCT(monomorph::testing::Hinge::Hparams);
