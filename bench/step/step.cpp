// Times the optimiser step of one recipe on random tokens: step_<recipe> [steps] [warm-up steps] [micro-batch] [batch]
// [1 for a fixed tree of gradients] prints a line of JSON. A smaller micro-batch is accumulated to the same batch.
// Under a launcher each rank takes a batch of its own, and rank 0 prints.
#include "bench/step/random_step.hpp"
#include "bench/step/recipes.hpp"

#include <monomorph/core/process_memory.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/memory/workspace.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

using namespace monomorph;
using R = RECIPE;

namespace {

constexpr std::int64_t T = R::model.context_length;

/// @return the loss, averaged over all ranks' tokens
double loss_of(train::Step<R>& step, train::Ticket ticket) {
  const StepOutcome outcome = step.read(ticket);
  return outcome.mean(outcome.loss);
}

}  // namespace

int main(int argc, char** argv) {
  const int steps = bench::argument(argc, argv, 1, 20), warm_up = bench::argument(argc, argv, 2, 5);
  const int batch_size = bench::argument(argc, argv, 4, R::batch),
            micro_batch = bench::argument(argc, argv, 3, batch_size);
  const int levels = bench::argument(argc, argv, 5, 0) == 0 ? 0 : plan::tree_levels(batch_size / micro_batch);
  const std::int64_t idle_bytes = resident_bytes();
  const World world = connect(std::chrono::minutes(5));
  const auto communicator = world.communicator(R::sharding::optimizer_shards(world.size()), R::precision::reduce_dtype);
  train::Step<R> step(*communicator, micro_batch, 0, levels);
  bench::RandomBatch<R> batch(batch_size);
  std::mt19937 random(world.rank());
  std::vector<double> milliseconds;
  double loss = 0;
  for (int i = 0; i < warm_up + steps; ++i) {
    batch.fill(random);
    const auto begin = std::chrono::steady_clock::now();
    loss = loss_of(step, bench::take_step(step, batch, micro_batch, i + 1));
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    if (i >= warm_up) milliseconds.push_back(spent.count());
  }
  if (world.rank() > 0) return 0;
  std::ranges::sort(milliseconds);
  const double median = milliseconds[milliseconds.size() / 2];
  fmt::print(
      "{{\"ms_per_step\": {:.2f}, \"ms_min\": {:.2f}, \"tokens_per_s\": {:.0f}, \"peak_mb\": {:.1f}, "
      "\"idle_mb\": {:.1f}, \"planned_mb\": {:.1f}, \"params\": {}, \"loss\": {:.4f}}}\n",
      median, milliseconds.front(), 1e3 * static_cast<double>(world.size() * batch_size * T) / median,
      static_cast<double>(peak_resident_bytes()) / 1048576, static_cast<double>(idle_bytes) / 1048576,
      static_cast<double>(plan::memory<R>(world.size(), micro_batch, levels).total() + kernel_workspace_bytes()) /
          1048576,
      plan::params<R>, loss);
}
