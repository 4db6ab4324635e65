// Pairs of sequences of which one was chosen, on a GPU: the losses, metrics and log-probabilities of a CPU.
#include "support/catch.hpp"
#include "support/gpu_step.hpp"

namespace monomorph::testing {
namespace {

template <class R, class Precision> struct In : R { using precision = Precision; };
template <class R> struct Adapted : R {
  using finetuning = finetuning::LowRank<LowRankSpec{.rank = 3, .alpha = 6, .dropout = 0.1, .targets = {.up = true}}>;
};

struct Trained {
  std::vector<double> losses, metrics, log_probabilities;
};

/// Four steps of two micro-batches, and what becomes of the last one's sequences.
template <Recipe R> Trained trained(const objective::Preferences::Hparams& loss) {
  constexpr std::int64_t batch = 3;
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, batch, 3, 0, loss);
  const PolicyHparams hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  Trained result;
  for (std::uint64_t number = 1; number <= 4; ++number) {
    for (const std::int64_t i : {0, 1}) step.accumulate(batch_from<R>(i * batch), number, {.index = i, .count = 2});
    const train::Ticket ticket = step.decide({.max_norm = 0.5});
    step.update(hparams, {});
    const StepOutcome outcome = step.read(ticket);
    CHECK(outcome.tokens == 2 * batch - 1);  // one lacks a sequence
    result.losses.push_back(outcome.mean(outcome.loss));
    result.metrics.insert(result.metrics.end(), outcome.metrics.begin(), outcome.metrics.end());
  }
  result.losses.push_back(step.evaluate(batch_from<R>(1)).loss);
  HostBuffer buffer;
  result.log_probabilities = values_of(step.download(step.log_probabilities(), buffer));
  return result;
}

void check_close(const std::vector<double>& actual, const std::vector<double>& expected, double tolerance) {
  REQUIRE(actual.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(actual[i] == Approx(expected[i]).epsilon(tolerance).margin(tolerance));
  }
}

template <class R, class Device = device::Cuda>
void check_trained(double tolerance, PreferenceLoss kind, double beta, double label_smoothing = 0) {
  objective::Preferences::Hparams loss;
  loss.kind.value = kind;
  loss.beta.value = beta;
  loss.label_smoothing.value = label_smoothing;
  const Trained cpu = trained<R>(loss), gpu = trained<On<R, Device>>(loss);
  check_close(gpu.losses, cpu.losses, tolerance);
  check_close(gpu.metrics, cpu.metrics, tolerance);
  check_close(gpu.log_probabilities, cpu.log_probabilities, tolerance);
  check_no_races();
}

}  // namespace

TEST_CASE("preferences are learned with the losses of a CPU, fp64, labels that may be wrong") {
  check_trained<In<Preferring<Small<llama_like>>, precision::Fp64>>(1e-10, PreferenceLoss::sigmoid, 0.5, 0.2);
}
TEST_CASE("preferences are learned with the losses of a CPU, fp32, the square, every block recomputed") {
  check_trained<Recomputed<Preferring<Small<gpt2_like>>>>(1e-4, PreferenceLoss::squared, 0.3);
}
TEST_CASE("preferences are learned with the losses of a CPU where logits are made twice, fp32") {
  check_trained<Preferring<Small<llama_like>>, WithShortChunks>(1e-4, PreferenceLoss::sigmoid, 0.1);
}
TEST_CASE("preferences are learned with the losses of a CPU, bf16, by adapters") {
  check_trained<Adapted<In<Preferring<Small<llama_like>>, precision::Bf16Mixed>>>(2e-2, PreferenceLoss::sigmoid, 0.1);
}

}  // namespace monomorph::testing
