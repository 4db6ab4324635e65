#include "gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/step_scalars.hpp>

#include <array>
#include <numeric>
#include <span>

namespace monomorph::emulator {
namespace {

constexpr std::int64_t n_counters = 3;
constexpr int n_ranks = 2, n_metrics = 1;
constexpr std::int64_t n_words = StepWords::count(n_counters, n_metrics, true, n_ranks);

struct Left {
  StepScalars scalars;
  std::array<std::int64_t, n_counters> counters{};
  std::array<std::int64_t, n_words> words{};
};

StepSettings settings_of(std::uint64_t number) {
  return {.norm = number == 0 ? GradientNorm::two : GradientNorm::infinity,
          .max_norm = number == 1 ? 1e9 : 0.5,
          .most_loss = number == 2 ? 1e-3 : std::numeric_limits<double>::infinity(),
          .loss_scaling = {.is_dynamic = true},
          .stops = number == 1,
          .saves = number == 0,
          .number = number};
}

/// All that is done between the kernels of a step, of two micro-batches: what those give is put there by hand.
template <class Queue> void take_step(Queue queue, std::uint64_t number, Left& left) {
  StepScalars& scalars = left.scalars;
  begin_step(queue, &scalars, left.counters);
  std::iota(left.counters.begin(), left.counters.end(), std::int64_t{5});
  for (int i = 0; i < 2; ++i) {
    begin_micro_batch(queue, &scalars);
    scalars.micro_batch.loss = 123.456 / (i + 1);
    scalars.micro_batch.tokens = 100 + i;
    scalars.unused.metrics[0] = 0.1 * (i + 3);
    scalars.auxiliary = 0.25 + i;
    keep_metrics(queue, &scalars);
    end_micro_batch(queue, &scalars);
  }
  scalars.gradient_norm.sum.add(1e4 / 3);
  scalars.gradient_norm.greatest = 17;
  const StepSettings settings = settings_of(number);
  const StepWords words{.words = left.words.data(),
                        .counters = left.counters.data(),
                        .n_counters = n_counters,
                        .n_metrics = n_metrics,
                        .has_auxiliary_loss = true,
                        .rank = 1,
                        .n_ranks = n_ranks};
  write_step_words(queue, &scalars, settings, words);
  for (std::int64_t& word : std::span(left.words).first(n_words - n_ranks)) word *= 2;  // the other rank has the same
  read_step_words(queue, &scalars, words);
  decide_step(queue, &scalars, settings, true);
}

void check_equal(const StepOutcome& a, const StepOutcome& b) {
  CHECK(a.loss == b.loss);
  CHECK(a.tokens == b.tokens);
  CHECK(a.metrics == b.metrics);
  CHECK(a.auxiliary_loss == b.auxiliary_loss);
  CHECK(a.gradient_norm == b.gradient_norm);
  CHECK(a.gradient_scale == b.gradient_scale);
  CHECK(a.applied == b.applied);
  CHECK(a.spiked == b.spiked);
  CHECK(a.stops == b.stops);
  CHECK(a.saves == b.saves);
  CHECK(a.next_loss_scale == b.next_loss_scale);
}

}  // namespace

TEST_CASE("the numbers of a step have the CPU's bits, and so has what is decided by them", "[step]") {
  for_each_schedule([] {
    Left gpu, cpu;
    gpu.scalars.loss_scale.value = cpu.scalars.loss_scale.value = 4;
    for (const std::uint64_t number : {0, 1, 2}) {
      CAPTURE(number);
      CHECK(starts_kernel([&] { take_step(gpu_queue, number, gpu); }));
      take_step(cpu_queue, number, cpu);
      CHECK(gpu.words == cpu.words);
      CHECK(gpu.counters == cpu.counters);
      const std::size_t place = number % gpu.scalars.outcomes.size();
      check_equal(gpu.scalars.outcomes[place], cpu.scalars.outcomes[place]);
      CHECK(gpu.scalars.outcomes[place].applied == (number < 2));
      CHECK(gpu.scalars.outcomes[place].tokens == 2 * 201);
      CHECK(gpu.scalars.decision.applies == cpu.scalars.decision.applies);
      CHECK(gpu.scalars.decision.gradient_scale == cpu.scalars.decision.gradient_scale);
      CHECK(gpu.scalars.decision.update == cpu.scalars.decision.update);
      CHECK(gpu.scalars.loss_scale == cpu.scalars.loss_scale);
      CHECK(gpu.scalars.updates == cpu.scalars.updates);
    }
  });
}

}  // namespace monomorph::emulator
