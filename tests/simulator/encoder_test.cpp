// Encoders trained on pairs of texts, on a simulated GPU: the losses of a CPU.
#include "numerics/pairs.hpp"
#include "support/gpu_step.hpp"

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

constexpr EncoderSpec of_means{
    .vocab_size = pair_ids, .n_layers = 2, .n_heads = 2, .d_model = 16, .context_length = pair_tokens, .d_ff = 24};
constexpr EncoderSpec projected = [] {
  EncoderSpec model = of_means;
  model.pooling = Pooling::last;
  model.d_embedding = 6;
  return model;
}();
constexpr EncoderSpec of_first_tokens = [] {
  EncoderSpec model = of_means;
  model.pooling = Pooling::first;
  model.unit_length = false;
  return model;
}();

template <const EncoderSpec& spec, class Precision, class Checkpointing = checkpointing::KeepAll> struct Encoder {
  static constexpr EncoderSpec model = spec;
  using sharding = monomorph::sharding::Replicate;
  using precision = Precision;
  using checkpointing = Checkpointing;
  using optimizer = optim::AdamW;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Bidirectional>;
  using objective = monomorph::objective::ContrastivePairs;
};

struct Trained {
  std::vector<double> losses;
  std::vector<double> hits;
};

/// Four steps of two micro-batches, of which some pairs lack a text.
template <Recipe R> Trained trained() {
  constexpr std::int64_t batch = 6;
  const Pairs pairs(2 * batch);
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, batch, 3);
  const PolicyHparams hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  Trained result;
  for (std::uint64_t number = 1; number <= 4; ++number) {
    for (const std::int64_t i : {0, 1}) step.accumulate(pairs.from(i * batch), number, {.index = i, .count = 2});
    const train::Ticket ticket = step.decide({.max_norm = 0.5});
    step.update(hparams, {});
    const StepOutcome outcome = step.read(ticket);
    result.losses.push_back(outcome.mean(outcome.loss));
    result.hits.push_back(outcome.metrics[0]);
  }
  return result;
}

template <class R> void check_trained(double tolerance) {
  const Trained cpu = trained<R>(), gpu = trained<OnGpu<R>>();
  for (std::size_t i = 0; i < cpu.losses.size(); ++i) {
    CAPTURE(i);
    CHECK(gpu.losses[i] == Approx(cpu.losses[i]).epsilon(tolerance));
  }
  CHECK(gpu.hits == cpu.hits);
}

}  // namespace

TEST_CASE("an encoder of means trains on pairs with the losses of a CPU, fp32, every block recomputed") {
  check_trained<Encoder<of_means, precision::Fp32, checkpointing::EveryBlock>>(1e-6);
}
// A GPU applies GELU to what the product before it has not rounded to bf16 yet, and a CPU to what it has: losses are
// 1.5e-3 apart, as the temperature divides similarities, and so what they are apart, by 0.05.
TEST_CASE("an encoder that projects the last token trains on pairs with the losses of a CPU, bf16") {
  check_trained<Encoder<projected, precision::Bf16Mixed>>(2e-3);
}
TEST_CASE("an encoder of first tokens trains on pairs with the losses of a CPU, fp64") {
  check_trained<Encoder<of_first_tokens, precision::Fp64>>(1e-12);
}

}  // namespace monomorph::testing
