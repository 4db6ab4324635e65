// Tiny models that Hugging Face's transformers ran: tests/fixtures/models/README.md says what it noted.
#include "support/adamw_update.hpp"
#include "support/catch.hpp"
#include "support/hugging_face.hpp"
#include "support/one_sequence.hpp"

#include <monomorph/run.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/step.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph {
namespace {

using namespace testing;

constexpr std::int64_t batch = 2, T = 32, counted = batch * (T - 1);

struct gpt2_tiny {
  static constexpr DecoderSpec model{
      .vocab_size = 512, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = T};
  using sharding = sharding::Replicate;
  using precision = precision::Fp32;
  using checkpointing = checkpointing::KeepAll;
  using optimizer = optim::AdamWDecaying<optim::WeightDecayClasses{.norm = true, .bias = true}>;
};

constexpr DecoderSpec llama(bool tied) {
  return {.vocab_size = 512,
          .n_layers = 2,
          .n_heads = 4,
          .d_model = 64,
          .context_length = T,
          .n_kv_heads = 2,
          .d_ff = 176,
          .norm = {.kind = NormKind::rms_norm, .bias = false},
          .activation = Activation::swiglu,
          .position = Position::rotary,
          .bias = no_biases,
          .tied_head = tied};
}
struct llama_tiny : gpt2_tiny {
  static constexpr DecoderSpec model = llama(false);
};
struct llama_tiny_tied : gpt2_tiny {
  static constexpr DecoderSpec model = llama(true);
};

constexpr DecoderSpec mixtral(int n_layers) {
  DecoderSpec model = llama(false);
  model.vocab_size = 128, model.n_layers = n_layers, model.d_model = 32, model.d_ff = 48;
  return model;
}
constexpr MixtureSpec two_of_four{.n_experts = 4, .top_k = 2},
    balanced_two_of_four{.n_experts = 4, .top_k = 2, .balance_loss = 0.1};
struct mixtral_tiny : gpt2_tiny {
  static constexpr DecoderSpec model = mixtral(2);
  using layers = Stack<Run<Mixture<two_of_four>::Block, 2>>;
};
struct mixtral_tiny_balanced : gpt2_tiny {
  static constexpr DecoderSpec model = mixtral(1);
  using layers = Stack<Run<Mixture<balanced_two_of_four>::Block, 1>>;
};
template <class R> struct InFp64 : R { using precision = precision::Fp64; };
template <class R> struct InBf16 : R { using precision = precision::Bf16Mixed; };

runtime::SafetensorsFile open_fixture(const std::string& path) {
  return runtime::SafetensorsFile::open(MONOMORPH_SOURCE_DIR "/tests/fixtures/models/" + path);
}

/// A recipe's step with a fixture's weights, and its batch: a token's target is the next label of its row.
template <Recipe R> struct Fixture {
  runtime::SafetensorsFile expected;
  std::unique_ptr<Communicator> communicator = one_rank();
  train::GeneratingStep<R> step{*communicator, batch, 1};
  std::vector<std::int32_t> inputs, targets;

  explicit Fixture(const std::string& name) : expected(open_fixture(name + "_expected.safetensors")) {
    assign(step.parameters(), hugging_face_tensors(open_fixture(name + "/model.safetensors"), "", step.parameters()));
    step.parameters_changed();
    inputs = ids_of(expected, "input_ids");
    targets = ids_of(expected, "labels");
    for (std::int64_t row = 0; row < batch; ++row) {
      const auto first = targets.begin() + row * T;
      std::rotate(first, first + 1, first + T);
      targets[row * T + T - 1] = ignored_target;
    }
  }
  train::MicroBatch micro_batch() const { return {inputs.data(), targets.data(), 0}; }
  Values expect(const std::string& name) const { return values_of(expected, name); }
  double number(const std::string& name) const { return expect(name).at(0); }
};

Tensors scaled(Tensors tensors, double factor) {
  for (auto& [name, values] : tensors)
    for (double& value : values) value *= factor;
  return tensors;
}

template <Recipe R> void check_forward(Fixture<R>& f, double tolerance) {
  const LossSum loss = f.step.evaluate(f.micro_batch());
  CHECK(loss.tokens == counted);
  CHECK(std::abs(loss.loss / counted / f.number("loss") - 1) < tolerance);
  constexpr int L = plan::n_blocks<R>;
  for (int i = 0; i < L; ++i)
    CHECK(relative_error(values_of(f.step.hidden_state(i)), f.expect("hidden_states." + std::to_string(i))) <
          tolerance);
  CHECK(relative_error(values_of(f.step.state().activations[f.step.head().in_MD]),
                       f.expect("hidden_states." + std::to_string(L))) < tolerance);
  CHECK(relative_error(values_of(f.step.state().activations.statistics()[f.step.head().logits_CV]),
                       f.expect("logits")) < tolerance);
}

/// One token counts at a time, so that its loss is all there is.
template <Recipe R> void check_target_logprobs(Fixture<R>& f, double tolerance) {
  Values logprobs;
  for (std::size_t i = 0; i < f.targets.size(); ++i) {
    if (f.targets[i] == ignored_target) continue;
    std::vector<std::int32_t> only(f.targets.size(), ignored_target);
    only[i] = f.targets[i];
    const LossSum loss = f.step.evaluate({f.inputs.data(), only.data(), 0});
    REQUIRE(loss.tokens == 1);
    logprobs.push_back(-loss.loss);
  }
  CHECK(relative_error(logprobs, f.expect("target_logprobs")) < tolerance);
}

template <Recipe R> void check_gradients(Fixture<R>& f, double tolerance) {
  const LossSum loss = accumulate(f.step, f.micro_batch(), 1, {});
  CHECK(std::abs(loss.loss / counted / f.number("loss") - 1) < tolerance);
  const Difference worst = worst_difference(scaled(values_of(f.step.gradients()), 1.0 / counted),
                                            hugging_face_tensors(f.expected, "grad.", f.step.gradients()));
  INFO(worst.name);
  CHECK(worst.error < tolerance);
  if constexpr (plan::any_auxiliary_loss<R>)
    CHECK(std::abs(f.step.scalars().auxiliary_loss.value() / counted / f.number("auxiliary_loss") - 1) < tolerance);
  const double norm = std::sqrt(gradient_norm(f.step).sum.value()) / counted;
  CHECK(std::abs(norm / f.number("grad_norm") - 1) < tolerance);
}

/// Their gradients are zero but for rounding where positions do not turn keys, and AdamW divides that noise by itself.
void drop_key_biases(Tensors& tensors) {
  std::erase_if(tensors, [](const auto& tensor) { return tensor.first.ends_with("attention.k.bias"); });
}

template <Recipe R> void check_five_steps(Fixture<R>& f, double tolerance) {
  auto hparams = PolicyHparams::of<optim::AdamW::Hparams>();
  auto& adamw = hparams.as<optim::AdamW::Hparams>();
  adamw.lr.value = 1e-3;
  adamw.beta1.value = 0.9;
  adamw.beta2.value = 0.95;
  adamw.epsilon.value = 1e-8;
  adamw.weight_decay.value = 0.1;
  Values losses, norms;
  for (std::uint64_t step = 1; step <= 5; ++step) {
    const LossSum loss = accumulate(f.step, f.micro_batch(), step, {});
    losses.push_back(loss.loss / static_cast<double>(loss.tokens));
    const train::Ticket ticket = f.step.decide({.max_norm = 1});
    f.step.update(hparams, {});
    const StepOutcome outcome = f.step.read(ticket);
    REQUIRE(outcome.applied);
    norms.push_back(outcome.gradient_norm);
  }
  CHECK(relative_error(losses, f.expect("adamw5.losses")) < tolerance);
  CHECK(relative_error(norms, f.expect("adamw5.grad_norms")) < tolerance);
  Tensors actual = values_of(f.step.parameters()),
          expected = hugging_face_tensors(f.expected, "adamw5.param.", f.step.parameters());
  if (R::model.position != Position::rotary) drop_key_biases(actual), drop_key_biases(expected);
  const Difference worst = worst_difference(actual, expected);
  INFO(worst.name);
  CHECK(worst.error < tolerance);
}

std::int32_t most_probable(train::Logits logits) {
  return static_cast<std::int32_t>(std::ranges::max_element(logits) - logits.begin());
}

template <Recipe R> void check_greedy(Fixture<R>& f) {
  const std::vector<std::int32_t> prompt = ids_of(f.expected, "greedy.input"),
                                  text = ids_of(f.expected, "greedy.output");
  OneSequence decoder(f.step, T);
  CHECK(decoder.capacity() == T);
  for (int round = 0; round < 2; ++round) {
    decoder.reset();
    std::vector<std::int32_t> written = prompt;
    for (std::size_t i = 0; written.size() < text.size(); ++i) {
      const float* const logits = decoder.feed(written[i]);
      if (i + 1 < written.size()) continue;
      written.push_back(most_probable({logits, static_cast<std::size_t>(R::model.vocab_size)}));
    }
    CHECK(written == text);
    CHECK(decoder.length() == static_cast<std::int64_t>(text.size()) - 1);
  }

  // Beginnings of the text of unequal lengths, each read at once, and continued together.
  train::Session session = session_of(f.step, 3, T, T);
  std::vector<int> sequences;
  std::vector<std::vector<std::int32_t>> written;
  for (std::size_t n = 0; n < 3; ++n) {
    sequences.push_back(session.open());
    written.emplace_back(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(prompt.size() + n));
    const train::Logits after = session.prefill(sequences.back(), written.back());
    written.back().push_back(most_probable(after));
  }
  while (written.front().size() + 2 < text.size()) {
    std::vector<std::int32_t> last;
    for (const auto& one : written) last.push_back(one.back());
    const auto after = session.decode(sequences, last);
    for (std::size_t n = 0; n < 3; ++n) written[n].push_back(most_probable(after[n]));
  }
  for (std::size_t n = 0; n < 3; ++n)
    CHECK(written[n] == std::vector(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(written[n].size())));
  CHECK(written.back() == text);
}

template <Recipe R> void check_fp32(const std::string& name) {
  Fixture<R> f(name);
  check_forward(f, 1e-4);
  check_target_logprobs(f, 1e-4);
  check_gradients(f, 1e-4);
  check_greedy(f);
  check_five_steps(f, 1e-4);
}

/// The logits of the same weights in fp64. What else the fixture has is of fp32.
template <Recipe R> void check_fp64(const std::string& name, double tolerance_of_logits) {
  Fixture<InFp64<R>> f(name);
  check_forward(f, 1e-5);
  CHECK(relative_error(values_of(f.step.state().activations.statistics()[f.step.head().logits_CV]),
                       f.expect("logits_f64")) < tolerance_of_logits);
  check_gradients(f, 1e-5);
  check_greedy(f);
  check_five_steps(f, 1e-4);
}

template <Recipe R> void check_bf16(const std::string& name) {
  Fixture<InBf16<R>> f(name);
  const LossSum loss = accumulate(f.step, f.micro_batch(), 1, {});
  CHECK(std::abs(loss.loss / counted - f.number("loss")) < 2e-2);
  const Tensors gradients = joined_biases(values_of(f.step.gradients())),
                expected = joined_biases(hugging_face_tensors(f.expected, "grad.", f.step.gradients()));
  for (const auto& [tensor, values] : gradients) {
    INFO(tensor);
    CHECK(cosine(values, expected.at(tensor)) > 0.99);
  }
  check_five_steps(f, 2e-2);
}

}  // namespace

TEST_CASE("gpt2_tiny in fp32") { check_fp32<gpt2_tiny>("gpt2_tiny"); }
TEST_CASE("llama_tiny in fp32") { check_fp32<llama_tiny>("llama_tiny"); }
TEST_CASE("llama_tiny_tied in fp32") { check_fp32<llama_tiny_tied>("llama_tiny_tied"); }

TEST_CASE("mixtral_tiny in fp32") { check_fp32<mixtral_tiny>("mixtral_tiny"); }
TEST_CASE("mixtral_tiny_balanced in fp32") { check_fp32<mixtral_tiny_balanced>("mixtral_tiny_balanced"); }

TEST_CASE("gpt2_tiny in fp64") { check_fp64<gpt2_tiny>("gpt2_tiny", 1e-12); }
// transformers computes Llama's norms and rotary tables in fp32, whatever the weights are.
TEST_CASE("llama_tiny in fp64") { check_fp64<llama_tiny>("llama_tiny", 1e-6); }
TEST_CASE("llama_tiny_tied in fp64") { check_fp64<llama_tiny_tied>("llama_tiny_tied", 1e-6); }

// The router's softmax is in fp32, too.
TEST_CASE("mixtral_tiny in fp64") { check_fp64<mixtral_tiny>("mixtral_tiny", 1e-6); }
TEST_CASE("mixtral_tiny_balanced in fp64") { check_fp64<mixtral_tiny_balanced>("mixtral_tiny_balanced", 1e-6); }

TEST_CASE("gpt2_tiny in bf16 over fp32") { check_bf16<gpt2_tiny>("gpt2_tiny"); }
TEST_CASE("llama_tiny in bf16 over fp32") { check_bf16<llama_tiny>("llama_tiny"); }
TEST_CASE("llama_tiny_tied in bf16 over fp32") { check_bf16<llama_tiny_tied>("llama_tiny_tied"); }

}  // namespace monomorph
