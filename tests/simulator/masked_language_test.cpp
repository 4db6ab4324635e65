// BERT's head for masked tokens, trained on a simulated GPU: the losses of a CPU.
#include "support/gpu_step.hpp"

#include <monomorph/core/ignored_target.hpp>
#include <monomorph/model/masked_language_head.hpp>

#include <utility>

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

template <class Precision, class Checkpointing = checkpointing::KeepAll> struct MaskedLanguage {
  static constexpr MaskedLanguageSpec model{
      .trunk = {.vocab_size = 61, .n_layers = 2, .n_heads = 2, .d_model = 16, .context_length = 24, .d_ff = 24}};
  using layers = Stack<Run<Composed<BlockOrder::normed_residual>::Block, 2>>;
  using attention = monomorph::attention::Bidirectional;
  using objective = monomorph::objective::MaskedTokens<60>;
  using sharding = monomorph::sharding::Replicate;
  using precision = Precision;
  using checkpointing = Checkpointing;
  using optimizer = optim::AdamW;
};
/// Four steps of two micro-batches, of whose tokens every third counts.
template <Recipe R> std::vector<double> trained() {
  constexpr std::int64_t context = trunk_of<R>.context_length, rows = 2;
  std::vector<std::int32_t> ids(2 * rows * context), targets(ids.size(), ignored_target);
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i * i * 7 % 60);
  for (std::size_t i = 0; i < ids.size(); i += 3) targets[i] = std::exchange(ids[i], 60);
  const std::unique_ptr<Communicator> communicator = one_rank();
  train::Step<R> step(*communicator, rows, 3);
  std::vector<double> losses;
  for (std::uint64_t number = 1; number <= 4; ++number) {
    for (const std::int64_t i : {0, 1})
      step.accumulate({ids.data() + i * rows * context, targets.data() + i * rows * context, 0}, number,
                      {.index = i, .count = 2});
    const train::Ticket ticket = step.decide({.max_norm = 0.5});
    step.update(PolicyHparams::of<typename R::optimizer::Hparams>(), {});
    const StepOutcome outcome = step.read(ticket);
    losses.push_back(outcome.mean(outcome.loss));
  }
  return losses;
}

/// Logits in several chunks, to which the gradient of their bias adds up.
template <class R> struct InShortChunks : R { using device = WithShortChunks; };

template <class Cpu, class Gpu = OnGpu<Cpu>> void check_trained(double tolerance) {
  const std::vector<double> cpu = trained<Cpu>(), gpu = trained<Gpu>();
  for (std::size_t i = 0; i < cpu.size(); ++i) {
    CAPTURE(i);
    CHECK(gpu[i] == Approx(cpu[i]).epsilon(tolerance));
  }
  CHECK(cpu.back() < cpu.front());
}

}  // namespace

TEST_CASE("BERT's head for masked tokens trains with the losses of a CPU, fp32, every block recomputed") {
  check_trained<MaskedLanguage<precision::Fp32, checkpointing::EveryBlock>>(1e-6);
}
TEST_CASE("BERT's head for masked tokens trains with the losses of a CPU, bf16, whose logits are wider") {
  check_trained<MaskedLanguage<precision::Bf16Mixed>>(2e-3);
}
TEST_CASE("BERT's head for masked tokens trains with the losses of a CPU, fp64, in several chunks") {
  using R = MaskedLanguage<precision::Fp64>;
  check_trained<R, InShortChunks<R>>(1e-12);
}

}  // namespace monomorph::testing
