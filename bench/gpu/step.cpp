// Times the optimiser step of one recipe on one GPU, on random tokens: gpu_step_<recipe> [steps] [warm-up steps]
// [micro-batch] [micro-batches a step] [0: steps are not recorded] prints a line of JSON. The host asks for a step
// before it reads what has become of the one before.
#include "bench/gpu/recipes.hpp"
#include "bench/step/random_step.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <chrono>
#include <optional>
#include <random>
#include <vector>

using namespace monomorph;
using R = On<RECIPE, device::Cuda>;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::int64_t T = R::model.context_length;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

}  // namespace

int main(int argc, char** argv) {
  const auto started = Clock::now();
  const int steps = bench::argument(argc, argv, 1, 20), warm_up = bench::argument(argc, argv, 2, 5);
  const int micro_batch = bench::argument(argc, argv, 3, 32), accumulated = bench::argument(argc, argv, 4, 1);
  const auto communicator = one_rank();
  std::mt19937 random(0);
  bench::RandomBatch<R> batch(static_cast<std::int64_t>(micro_batch) * accumulated);
  batch.fill(random);
  train::Step<R> step(*communicator, micro_batch, 0);
  const bool recorded = bench::argument(argc, argv, 5, 1) != 0;
  step.record_steps(recorded);
  std::optional<train::Ticket> last;
  double first_step = 0, host = 0, loss = 0;
  auto begin = Clock::now();
  std::vector<double> losses;
  for (int i = 0; i < warm_up + steps; ++i) {
    if (i == warm_up) {
      step.read(*last);
      begin = Clock::now();
    }
    const auto asked = Clock::now();
    const train::Ticket ticket = bench::take_step(step, batch, micro_batch, i + 1);
    if (i >= warm_up) host += seconds_since(asked);
    if (i == 0) {
      step.read(ticket);
      first_step = seconds_since(started);
    } else {
      const StepOutcome outcome = step.read(*last);
      losses.push_back(outcome.mean(outcome.loss));
    }
    last = ticket;
  }
  const StepOutcome outcome = step.read(*last);
  loss = outcome.mean(outcome.loss);
  const double spent = seconds_since(begin) / steps;
  std::size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  const double tokens = static_cast<double>(micro_batch * accumulated * T);
  constexpr double gib = 1073741824;
  fmt::print(
      "{{\"recipe\": \"{}\", \"micro_batch\": {}, \"recorded\": {}, \"ms_per_step\": {:.2f}, \"tokens_per_s\": {:.0f}, "
      "\"host_ms\": "
      "{:.2f}, "
      "\"first_step_s\": {:.2f}, \"device_gib\": {:.2f}, \"planned_gib\": {:.2f}, \"loss_1\": {:.5f}, \"loss\": "
      "{:.5f}}}\n",
      R_NAME, micro_batch, recorded, spent * 1e3, tokens / spent, host / steps * 1e3, first_step,
      static_cast<double>(total - free) / gib, static_cast<double>(plan::memory<R>(1, micro_batch).total()) / gib,
      losses.empty() ? loss : losses.front(), loss);
}
