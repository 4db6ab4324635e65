// Models that learn from a teacher, on a GPU: the losses, metrics and evaluations of a CPU.
#include "support/catch.hpp"
#include "support/gpu_step.hpp"

namespace monomorph::testing {
namespace {

template <class R, class Precision> struct In : R { using precision = Precision; };
template <class R> struct Adapted : R {
  using finetuning = finetuning::LowRank<LowRankSpec{.rank = 3, .alpha = 6, .dropout = 0.1, .targets = {.up = true}}>;
};
/// What four steps of two micro-batches have as losses and metrics, and an evaluation between them.
template <Recipe R> std::vector<double> trained(const objective::DistillationHparams& loss) {
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, 2, 3, 0, loss);
  give_teacher(step);
  const PolicyHparams hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  std::vector<double> all;
  for (std::uint64_t number = 1; number <= 4; ++number) {
    for (const std::int64_t i : {0, 1}) step.accumulate(batch_from<R>(2 * i), number, {.index = i, .count = 2});
    const train::Ticket ticket = step.decide({.max_norm = 0.5});
    step.update(hparams, {});
    const StepOutcome outcome = step.read(ticket);
    all.insert(all.end(), {outcome.mean(outcome.loss), outcome.gradient_norm});
    all.insert(all.end(), outcome.metrics.begin(), outcome.metrics.begin() + 3);  // agreement is a count
    const LossSum evaluated = step.evaluate(batch_from<R>(1));
    all.push_back(evaluated.loss);
    all.insert(all.end(), evaluated.metrics.begin(), evaluated.metrics.begin() + 3);
  }
  return all;
}

template <class R, class Device = device::Cuda>
void check_trained(double tolerance, Divergence divergence, double temperature, double weight) {
  objective::DistillationHparams loss;
  loss.divergence.value = divergence;
  loss.temperature.value = temperature;
  loss.teacher_weight.value = weight;
  const std::vector<double> cpu = trained<R>(loss), gpu = trained<On<R, Device>>(loss);
  REQUIRE(gpu.size() == cpu.size());
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    CAPTURE(i);
    CHECK(gpu[i] == Approx(cpu[i]).epsilon(tolerance));
  }
  check_no_races();
}

}  // namespace

TEST_CASE("a teacher is learnt from with the losses of a CPU, fp64, the mean of both divergences") {
  check_trained<In<Taught<Small<llama_like>, Small<gpt2_like>>, precision::Fp64>>(1e-10, Divergence::jensen_shannon, 3,
                                                                                  0.7);
}
TEST_CASE("a teacher is learnt from with the losses of a CPU, fp32, every block recomputed, a high temperature") {
  check_trained<Recomputed<Taught<Small<gpt2_like>, Small<llama_like>>>>(1e-5, Divergence::reverse_kl, 100, 1);
}
TEST_CASE("a teacher is learnt from with the losses of a CPU, fp32, logits in chunks") {
  check_trained<Taught<Small<llama_like>, Small<gpt2_like, 3>>, WithShortChunks>(1e-5, Divergence::forward_kl, 2, 0.5);
}
TEST_CASE("a teacher is learnt from with the losses of a CPU, bf16, by adapters, within documents") {
  check_trained<
      Adapted<In<InDocuments<Taught<Small<llama_like>, InDocuments<Small<gpt2_like>>>>, precision::Bf16Mixed>>>(
      2e-2, Divergence::forward_kl, 2, 0.5);
}
TEST_CASE("a teacher is learnt from with the losses of a CPU where both models wait on the host") {
  check_trained<KeptOnHost<Taught<Small<gpt2_like, 4>, Small<llama_like>>>>(1e-5, Divergence::forward_kl, 1, 0.3);
}

}  // namespace monomorph::testing
