// Encoders and the contrastive objective against autograd in fp64, against a ModernBERT of Hugging Face
// (tests/fixtures/encoder), and several ranks against one that has all pairs in one micro-batch.
#include "numerics/pairs.hpp"
#include "out_of_tree/margin_pairs.hpp"
#include "support/hugging_face.hpp"

#include <monomorph/train/step/generating_step.hpp>

namespace monomorph::testing {
namespace {

constexpr std::int64_t T = pair_tokens, V = pair_ids;
using Hparams = objective::ContrastivePairs::Hparams;

constexpr EncoderSpec like_gpt2{
    .vocab_size = V, .n_layers = 2, .n_heads = 2, .d_model = 16, .context_length = T, .d_ff = 24};
constexpr EncoderSpec like_llama{.vocab_size = V,
                                 .n_layers = 3,
                                 .n_heads = 4,
                                 .d_model = 16,
                                 .context_length = T,
                                 .pooling = Pooling::last,
                                 .d_embedding = 6,
                                 .n_kv_heads = 2,
                                 .d_ff = 24,
                                 .norm = {.kind = NormKind::rms_norm, .bias = false},
                                 .qk_norm = true,
                                 .activation = Activation::swiglu,
                                 .position = Position::rotary,
                                 .bias = no_biases};
constexpr EncoderSpec with(EncoderSpec model, auto change) {
  change(model);
  return model;
}
constexpr EncoderSpec of_first_tokens = with(like_llama,
                                             [](EncoderSpec&model) {
                                               model.pooling = Pooling::first;
                                               model.d_embedding = automatic;
                                               model.unit_length = false;
                                             }),
                      projected = with(like_gpt2, [](EncoderSpec&model) {
                        model.d_embedding = 20;
                        model.unit_length = false;
                      });

/// A recipe of a model, in fp64 unless another precision is asked for.
template <const EncoderSpec& spec, class Precision = precision::Fp64> struct Encoder {
  static constexpr EncoderSpec model = spec;
  using sharding = monomorph::sharding::Replicate;
  using precision = Precision;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = optim::AdamW;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
  using objective = monomorph::objective::ContrastivePairs;
};
template <class R, class Policy> struct Recomputed : R { using checkpointing = Policy; };
template <class R, class Policy> struct Tuned : R { using finetuning = Policy; };

Hparams hparams(double temperature, bool symmetric) {
  Hparams values;
  values.temperature.value = temperature;
  values.symmetric.value = symmetric;
  return values;
}

Tensors sum(Tensors a, const Tensors& b) {
  for (auto& [name, values] : a)
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += b.at(name)[i];
  return a;
}
Values joined(const Tensors& tensors) {
  Values all;
  for (const auto& [name, values] : tensors) all.insert(all.end(), values.begin(), values.end());
  return all;
}
/// Two micro-batches of a step, then an evaluation. reference(parameters, batch) gives what autograd makes of pairs.
template <Recipe R, class F> void check_against(const HparamsOf<R>& loss, const F& reference) {
  constexpr std::int64_t B = 6;
  const auto communicator = one_rank();
  train::GeneratingStep<R> step(*communicator, B, 3, 0, loss);
  CHECK(step.state().arena().unused_bytes() == 0);
  perturb(step);
  const Tensors parameters = values_of(step.parameters());
  const Pairs first(B), second(B, B);
  const auto expected = [&](const Pairs& pairs) { return reference(parameters, reference_of(pairs)); };
  const ReferencePairs of_first = expected(first), of_second = expected(second);
  const LossSum sum_of_first = accumulate(step, first.from(0), 1, {0, 2});
  check_close(sum_of_first.loss, of_first.loss);
  CHECK(sum_of_first.tokens == 5);
  CHECK(sum_of_first.metrics[0] == of_first.metric);
  CHECK(relative_error(values_of(step.embeddings()), of_first.embeddings) < 1e-12);
  check_gradients(values_of(step.gradients()), of_first.gradients, 1e-9);
  check_close(accumulate(step, second.from(0), 1, {1, 2}).loss, of_second.loss);
  check_gradients(values_of(step.gradients()), sum(of_first.gradients, of_second.gradients), 1e-9);
  const LossSum evaluated = step.evaluate(second.from(0));
  check_close(evaluated.loss, of_second.loss);
  CHECK(evaluated.metrics[0] == of_second.metric);
  CHECK(step.token_pass({}) == nullptr);
}
template <Recipe R> void check_against_autograd(const Hparams& loss) {
  check_against<R>(loss, [&](const Tensors& parameters, const ReferenceBatch& batch) {
    return reference_pairs(R::model, parameters, batch, loss.temperature, loss.symmetric);
  });
}

}  // namespace

TEST_CASE("encoders and their objective give what autograd gives: pooling, projection, length, both directions") {
  check_against_autograd<Encoder<like_gpt2>>(hparams(0.1, true));
  check_against_autograd<Encoder<like_gpt2>>(hparams(0.3, false));
  check_against_autograd<Encoder<like_llama>>(hparams(0.2, true));
  check_against_autograd<Encoder<of_first_tokens>>(hparams(1, true));
  check_against_autograd<Encoder<projected>>(hparams(2, false));
}

namespace {
constexpr EncoderSpec wider = with(like_gpt2, [](EncoderSpec& model) { model.d_ff = 40; });
/// Both blocks have a shape of their own, that of like_gpt2.
struct Reshaped : Encoder<wider> {
  using layers = Stack<Run<Shaped<BlockShape{.d_ff = 24}>::Block, 2>>;
};
}  // namespace

TEST_CASE("blocks of an encoder that are given a shape compute as those whose model has it") {
  const Hparams loss = hparams(0.1, true);
  const Pairs pairs(6);
  CHECK(trained<Reshaped>(1, pairs, 1, loss).gradients == trained<Encoder<like_gpt2>>(1, pairs, 1, loss).gradients);
}

TEST_CASE("the gradients of an encoder do not depend on what backward computes again") {
  const Hparams loss = hparams(0.1, true);
  const Pairs pairs(6);
  const Outcome kept = trained<Encoder<like_llama>>(1, pairs, 2, loss);
  CHECK(trained<Recomputed<Encoder<like_llama>, checkpointing::EveryBlock>>(1, pairs, 2, loss).gradients ==
        kept.gradients);
  CHECK(trained<Recomputed<Encoder<like_llama>, checkpointing::RecomputeCheap>>(1, pairs, 2, loss).gradients ==
        kept.gradients);
}

TEST_CASE("frozen units of an encoder leave the gradients of the others as they are") {
  const Hparams loss = hparams(0.1, true);
  const Pairs pairs(6);
  const Outcome all = trained<Encoder<like_llama>>(1, pairs, 1, loss);
  for (const Outcome& tuned : {trained<Tuned<Encoder<like_llama>, finetuning::FreezeFirst<2>>>(1, pairs, 1, loss),
                               trained<Tuned<Encoder<like_llama>, finetuning::HeadOnly>>(1, pairs, 1, loss)}) {
    CHECK(tuned.loss == all.loss);
    CHECK(tuned.gradients.size() < all.gradients.size());
    for (const auto& [name, values] : tuned.gradients) CHECK(values == all.gradients.at(name));
  }
}

TEST_CASE("ranks that have a part of the pairs each train as one that has all of them") {
  check_ranks<Encoder<like_llama>>(hparams(0.2, true), 1e-11);
  check_ranks<Encoder<like_gpt2, precision::Fp32>>(hparams(0.2, true), 2e-4);
}

TEST_CASE("several micro-batches on several ranks: pairs are compared with those of the same micro-batch") {
  const Hparams loss = hparams(0.2, true);
  const Pairs pairs(24);
  using R = Encoder<like_llama>;
  const Outcome two = trained<Sharded<R, sharding::FullShard>>(2, pairs, 3, loss), one = trained<R>(1, pairs, 3, loss);
  check_close(two.loss, one.loss);
  check_gradients(two.gradients, one.gradients, 1e-11);
}

TEST_CASE("an evaluation on several ranks has the bits of one, and a rank without pairs holds nobody up") {
  using R = Encoder<like_gpt2, precision::Fp32>;
  const Pairs pairs(8);
  std::mutex mutex;
  std::vector<double> losses(2);
  with_ranks(2, [&](const World& world) {
    const auto communicator = world.communicator(1, DType::fp32);
    train::Step<R> step(*communicator, 4, 3, 0, hparams(0.1, true));
    Pairs own(4, 4 * world.rank());
    if (world.rank() == 1) std::ranges::fill(own.targets, ignored_target);
    const LossSum none = accumulate(step, own.from(0), 1, {});
    CHECK(none.tokens == (world.rank() == 0 ? 3 : 0));
    const LossSum sum = step.evaluate(pairs.from(4 * world.rank()));
    const std::lock_guard lock(mutex);
    losses[world.rank()] = sum.loss;
  });
  const auto alone = one_rank();
  train::Step<R> step(*alone, 4, 3, 0, hparams(0.1, true));
  CHECK(losses == std::vector{step.evaluate(pairs.from(0)).loss, step.evaluate(pairs.from(4)).loss});
}

namespace {
/// Counts its tokens twice.
struct CountsTwice : objective::NextToken {
  static constexpr std::array<ObjectiveMetric, 2> metrics{{{"none", MetricKind::mean}, {"twice", MetricKind::sum}}};
  template <class Queue> static auto loss(Queue queue, const auto& logits, const Hparams& hparams) {
    objective::NextToken::loss(queue, logits, hparams);
    once(queue, [sum = logits.sum] { sum->metrics[1] = 2.0 * static_cast<double>(sum->tokens); });
  }
};
struct Counted : llama_like {
  using objective = CountsTwice;
};
}  // namespace

TEST_CASE("an objective over tokens has metrics, too, in training and in evaluations") {
  const auto communicator = one_rank();
  train::Step<Counted> step(*communicator, 2, 3);
  const train::MicroBatch batch = sequences.from(0, Counted::model.context_length);
  const LossSum trained = accumulate(step, batch, 1, {}), evaluated = step.evaluate(batch);
  CHECK(trained.metrics[1] == 2.0 * static_cast<double>(trained.tokens));
  CHECK(evaluated.metrics == trained.metrics);
  train::Step<llama_like> plain(*communicator, 2, 3);
  CHECK(evaluated.loss == plain.evaluate(batch).loss);
}

struct TripletHparams {};

namespace {
/// An objective of a stranger's own, of three texts: half the square of 1 + q · n - q · p for each sample.
struct Triplets {
  using Hparams = TripletHparams;
  static constexpr int texts_per_sample = 3;
  static constexpr std::int64_t workspace_elements(std::int64_t) { return 0; }
  static constexpr double flops_per_sample(std::int64_t, int, std::int64_t) { return 0; }
  template <class Queue> static void loss(Queue, const TextEmbeddings& e, const Hparams&) {
    for (std::int64_t s = e.first; s < e.first + e.n; ++s) {
      const auto text = [&](std::int64_t k) { return e.text(k, s, 1).as<double>(); };
      double margin = 1;
      for (std::int64_t i = 0; i < e.width(); ++i) margin += text(0)[i] * (text(2)[i] - text(1)[i]);
      e.sum->loss += 0.5 * margin * margin;
      ++e.sum->tokens;
      for (std::int64_t i = 0; e.gradient_RE.present() && i < e.width(); ++i) {
        const auto gradient = [&](std::int64_t k) { return e.gradient(k, s, 1).as<double>() + i; };
        *gradient(0) = margin * (text(2)[i] - text(1)[i]) * *e.scale;
        *gradient(1) = -margin * text(0)[i] * *e.scale;
        *gradient(2) = margin * text(0)[i] * *e.scale;
      }
    }
  }
};
struct OfTriplets : Encoder<like_gpt2> {
  using objective = Triplets;
};
}  // namespace

TEST_CASE("an objective of a stranger's own over three texts has the gradients of its loss") {
  const auto communicator = one_rank();
  train::Step<OfTriplets> step(*communicator, 2, 3);
  CHECK(step.state().arena().unused_bytes() == 0);
  perturb(step);
  std::vector<std::int32_t> inputs, texts, starts;
  for (std::int32_t t = 0; t < 2 * T; ++t) {
    inputs.push_back(7 * t % V);
    texts.push_back(t % T / 4);
    starts.push_back(t % T / 4 * 4);
  }
  const train::MicroBatch batch{inputs.data(), texts.data(), 0, starts.data()};
  accumulate(step, batch, 1, {});
  const Tensors gradients = values_of(step.gradients()), parameters = values_of(step.parameters());
  constexpr double h = 1e-5;
  for (const auto& [name, values] : parameters) {
    const std::size_t i = values.size() / 2;
    const auto loss_at = [&](double x) {
      Tensors moved = parameters;
      moved[name][i] = x;
      assign(step.parameters(), moved);
      step.parameters_changed();
      return step.evaluate(batch).loss;
    };
    const double slope = (loss_at(values[i] + h) - loss_at(values[i] - h)) / (2 * h);
    CAPTURE(name);
    CHECK(std::abs(slope - gradients.at(name)[i]) < 1e-7);
  }
}

namespace {
template <const EncoderSpec& spec, class Precision = precision::Fp64> struct ByMargin : Encoder<spec, Precision> {
  using objective = stranger::MarginPairs;
};
stranger::MarginPairsHparams margin_hparams(double margin) {
  stranger::MarginPairsHparams values;
  values.margin.value = margin;
  return values;
}
template <Recipe R> void check_margin(double margin) {
  CAPTURE(margin);
  check_against<R>(margin_hparams(margin), [&](const Tensors& parameters, const ReferenceBatch& batch) {
    return reference_margin_pairs(R::model, parameters, batch, margin);
  });
}
}  // namespace

TEST_CASE("an objective of pairs from outside of the tree gives what autograd gives") {
  check_margin<ByMargin<like_gpt2>>(0.2);
  check_margin<ByMargin<like_llama>>(0.05);
  check_margin<ByMargin<projected>>(0.3);
}

TEST_CASE("an objective of pairs from outside of the tree is the same on any number of ranks") {
  check_ranks<ByMargin<like_llama>>(margin_hparams(0.2), 1e-11);
  check_ranks<ByMargin<like_gpt2, precision::Fp32>>(margin_hparams(0.2), 2e-4);
}

TEST_CASE("narrow precisions of an encoder are near fp64, and a loss scale is a factor of the gradients") {
  const Hparams loss = hparams(0.2, true);
  const Pairs pairs(12);
  const Outcome exact = trained<Encoder<like_llama>>(1, pairs, 1, loss),
                bf16 = trained<Encoder<like_llama, precision::Bf16Mixed>>(1, pairs, 1, loss),
                fp16 = trained<Encoder<like_llama, precision::Fp16Mixed>>(1, pairs, 1, loss, 256),
                fp32 = trained<Encoder<like_llama, precision::Fp32>>(1, pairs, 1, loss),
                scaled = trained<Encoder<like_llama, precision::Fp32>>(1, pairs, 1, loss, 256);
  CHECK(cosine(joined(bf16.gradients), joined(exact.gradients)) > 0.999);
  CHECK(cosine(joined(fp16.gradients), joined(exact.gradients)) > 0.9999);
  CHECK(cosine(joined(fp32.gradients), joined(exact.gradients)) > 0.9999999);
  Tensors unscaled = scaled.gradients;
  for (auto& [name, values] : unscaled)
    for (double& value : values) value /= 256;
  CHECK(unscaled == fp32.gradients);
}

namespace {

constexpr EncoderSpec like_modernbert{.vocab_size = 40,
                                      .n_layers = 2,
                                      .n_heads = 2,
                                      .d_model = 16,
                                      .context_length = T,
                                      .d_ff = 24,
                                      .norm = {.kind = NormKind::layer_norm, .epsilon = 1e-12, .bias = false},
                                      .activation = Activation::swiglu,
                                      .position = Position::rotary,
                                      .bias = no_biases};

/// The texts of the fixture's script.
const std::vector<std::vector<std::int32_t>> queries{{5, 9, 13, 2, 39},
                                                     {7, 7, 31},
                                                     {3, 18, 22, 4, 11, 6, 30},
                                                     {25, 14}};
const std::vector<std::vector<std::int32_t>> positives{{9, 13, 33}, {31, 8, 21, 17, 6}, {22, 4}, {14, 25, 38, 1, 10}};

/// By our name: the fixture's tensor, and which part of how many it is.
struct Place {
  std::string name;
  std::size_t part = 0, parts = 1;
};
std::map<std::string, Place> modernbert_places() {
  std::map<std::string, Place> places{{"embedding.weight", {"embeddings.tok_embeddings.weight"}},
                                      {"final_norm.weight", {"final_norm.weight"}}};
  for (const std::string layer : {"layers.0.", "layers.1."}) {
    places[layer + "attention.q.weight"] = {layer + "attn.Wqkv.weight", 0, 3};
    places[layer + "attention.k.weight"] = {layer + "attn.Wqkv.weight", 1, 3};
    places[layer + "attention.v.weight"] = {layer + "attn.Wqkv.weight", 2, 3};
    places[layer + "attention.out.weight"] = {layer + "attn.Wo.weight"};
    places[layer + "mlp_norm.weight"] = {layer + "mlp_norm.weight"};
    places[layer + "mlp.gate.weight"] = {layer + "mlp.Wi.weight", 0, 2};
    places[layer + "mlp.up.weight"] = {layer + "mlp.Wi.weight", 1, 2};
    places[layer + "mlp.down.weight"] = {layer + "mlp.Wo.weight"};
  }
  places["layers.1.attention_norm.weight"] = {"layers.1.attn_norm.weight"};
  return places;
}

Tensors modernbert_tensors(const runtime::SafetensorsFile& file, const std::string& prefix) {
  Tensors tensors;
  for (const auto& [name, place] : modernbert_places()) {
    const Values whole = values_of(file, prefix + place.name);
    const auto size = static_cast<std::ptrdiff_t>(whole.size() / place.parts),
               first = static_cast<std::ptrdiff_t>(place.part) * size;
    tensors[name] = Values(whole.begin() + first, whole.begin() + first + size);
  }
  return tensors;
}

}  // namespace

TEST_CASE("a ModernBERT of Hugging Face makes the same embeddings, loss and gradients") {
  const runtime::SafetensorsFile file(
      MappedFile(MONOMORPH_SOURCE_DIR "/tests/fixtures/encoder/modernbert_tiny.safetensors"));
  constexpr std::int64_t n = 4;
  std::vector<std::int32_t> inputs(n * T), targets(n * T, ignored_target), starts(n * T);
  for (std::size_t pair = 0; pair < n; ++pair) {
    const std::size_t first = pair * T, size = queries[pair].size(), end = size + positives[pair].size();
    for (std::size_t t = 0; t < T; ++t) {
      if (t < end) inputs[first + t] = t < size ? queries[pair][t] : positives[pair][t - size];
      if (t < end) targets[first + t] = t < size ? 0 : 1;
      starts[first + t] = static_cast<std::int32_t>(t < size ? 0 : t < end ? size : end);
    }
  }
  const auto communicator = one_rank();
  train::Step<Encoder<like_modernbert>> step(*communicator, n, 3, 0, hparams(0.1, true));
  Tensors weights = modernbert_tensors(file, "");
  weights["layers.0.attention_norm.weight"] = Values(16, 1);  // ModernBERT has none there, and has no need of one here
  assign(step.parameters(), weights);
  step.parameters_changed();
  const LossSum loss = accumulate(step, {inputs.data(), targets.data(), 0, starts.data()}, 1, {});
  // Its table of rotary positions is in fp32, whatever it computes in.
  check_close(loss.loss, values_of(file, "loss")[0], 1e-5);
  const Values embeddings = values_of(step.embeddings()), first = values_of(file, "queries"),
               second = values_of(file, "positives");
  for (std::size_t pair = 0; pair < n; ++pair)
    for (const auto& [text, expected] : {std::pair{0, &first}, {1, &second}}) {
      const auto row = static_cast<std::ptrdiff_t>((2 * pair + text) * 16), at = static_cast<std::ptrdiff_t>(16 * pair);
      CHECK(relative_error(Values(embeddings.begin() + row, embeddings.begin() + row + 16),
                           Values(expected->begin() + at, expected->begin() + at + 16)) < 1e-6);
    }
  Tensors gradients = values_of(step.gradients()), expected = modernbert_tensors(file, "gradient.");
  // Behind its table ModernBERT has a norm, which changes no value here, but the gradients.
  for (const char* const name : {"embedding.weight", "layers.0.attention_norm.weight"})
    gradients.erase(name), expected.erase(name);
  check_gradients(gradients, expected, 1e-5);
}

}  // namespace monomorph::testing
