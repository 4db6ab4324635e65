// Trains one recipe on text on one device: gpu_losses_<recipe> <train.pbin> <held_out.pbin> [steps] [micro-batch]
// [micro-batches a step] [learning rate in millionths] [seed] [steps of warm-up] prints a line of JSON with the losses
// of the steps and that of the held-out text. Recipes that differ in their precision alone begin with the same values
// of a seed and see the same batches (bench/gpu/compare_losses).
#include "bench/gpu/recipes.hpp"
#include "bench/step/random_step.hpp"

#include <monomorph/data/loading/evaluation_loader.hpp>
#include <monomorph/data/loading/loader.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/schedule/warmup_decay_hparams.hpp>
#include <monomorph/train/inference/evaluation.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <chrono>
#include <optional>
#include <vector>

using namespace monomorph;
using R = On<RECIPE, device::DEVICE>;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::int64_t T = R::model.context_length;

/// What the loader reads for one step; a step that has been asked for has copies of its ids.
struct Batches {
  data::Loader loader;
  bench::RandomBatch<R> batch;
  Batches(const std::string& path, std::int64_t sequences, std::uint64_t seed)
      : loader({{path, 1.0}}, {.sequence_length = T, .vocab_size = R::model.vocab_size, .seed = seed}),
        batch(sequences) {}

  const bench::RandomBatch<R>& read(std::int64_t step) {
    const std::int64_t sequences = std::ssize(batch.inputs) / T;
    loader.read(step * sequences, sequences, {batch.inputs.data(), batch.targets.data()});
    return batch;
  }
};

/// Of the optimiser's own rate: a warm-up, then half a cosine.
train::UpdateSettings settings_of(double peak, std::int64_t step, std::int64_t warm_up, std::int64_t steps) {
  schedule::WarmupDecayHparams hparams;
  hparams.warmup_steps.value = warm_up;
  const ScheduledRate rate = schedule::WarmupDecay::rate(hparams, step, steps);
  return {.rate_times = rate.times * peak / optim::AdamWHparams{}.lr.value, .rate_over = rate.over};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr,
               "usage: {} TRAIN.pbin HELD_OUT.pbin [steps] [micro-batch] [micro-batches a step] [rate] [seed] "
               "[warm-up]\n",
               argv[0]);
    return 2;
  }
  const int steps = bench::argument(argc, argv, 3, 100), micro_batch = bench::argument(argc, argv, 4, 8);
  const int accumulated = bench::argument(argc, argv, 5, 1), seed = bench::argument(argc, argv, 7, 0);
  const int warm_up = bench::argument(argc, argv, 8, steps / 3);  // large models are unstable at first
  const double rate = 1e-6 * bench::argument(argc, argv, 6, 100);
  const auto communicator = one_rank();
  Batches batches(argv[1], static_cast<std::int64_t>(micro_batch) * accumulated, static_cast<std::uint64_t>(seed));
  train::Step<R> step(*communicator, micro_batch, static_cast<std::uint64_t>(seed));
  step.record_steps(true);
  std::vector<double> losses;
  std::optional<train::Ticket> last;
  const auto read_last = [&] {
    const StepOutcome outcome = step.read(*last);
    losses.push_back(outcome.mean(outcome.loss));
  };
  const auto begin = Clock::now();
  for (int i = 0; i < steps; ++i) {
    const train::Ticket ticket =
        bench::take_step(step, batches.read(i), micro_batch, i + 1, settings_of(rate, i, warm_up, steps));
    if (last) read_last();
    last = ticket;
  }
  read_last();
  const double spent = std::chrono::duration<double>(Clock::now() - begin).count();
  const data::EvaluationLoader held_out(argv[2], T, R::model.vocab_size);
  const train::EvaluationResult evaluation = train::evaluate(step, *communicator, held_out, micro_batch, T, {}, {});
  fmt::print(
      "{{\"recipe\": \"{}\", \"seed\": {}, \"rate\": {}, \"steps\": {}, \"warm_up\": {}, \"tokens_a_step\": {}, "
      "\"seconds\": {:.1f}, "
      "\"held_out_tokens\": {}, "
      "\"held_out_loss\": {:.6f}, \"losses\": [{:.6f}]}}\n",
      R_NAME, seed, rate, steps, warm_up, micro_batch * accumulated * T, spent, evaluation.tokens, evaluation.loss(),
      fmt::join(losses, ", "));
}
