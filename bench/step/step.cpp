// Times the optimiser step of one recipe on random tokens: step_<recipe> [steps] [warm-up steps] [micro-batch] prints a
// line of JSON. A smaller micro-batch is accumulated to the same batch.
#include "bench/step/recipes.hpp"

#include <monomorph/core/process_memory.hpp>
#include <monomorph/runtime/world.hpp>
#include <monomorph/train/step.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>
#include <vector>

using namespace monomorph;

int main(int argc, char** argv) {
  using R = RECIPE;
  const int steps = argc > 1 ? std::atoi(argv[1]) : 20, warm_up = argc > 2 ? std::atoi(argv[2]) : 5;
  const int micro_batch = argc > 3 ? std::atoi(argv[3]) : R::batch;
  const std::int64_t idle_bytes = resident_bytes();
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 0);
  const std::size_t n_tokens = R::batch * R::model.context_length;
  std::vector<std::int32_t> inputs(n_tokens), targets(n_tokens);
  std::mt19937 random(0);
  std::uniform_int_distribution<std::int32_t> id(0, static_cast<std::int32_t>(R::model.vocab_size) - 1);
  std::vector<double> milliseconds;
  double loss = 0;
  for (int i = 0; i < warm_up + steps; ++i) {
    std::ranges::generate(inputs, [&] { return id(random); });
    std::ranges::generate(targets, [&] { return id(random); });
    const auto begin = std::chrono::steady_clock::now();
    kernels::LossSum sum{};
    for (int first = 0; first < R::batch; first += micro_batch) {
      const auto offset = first * R::model.context_length;
      const auto part =
          step.accumulate({inputs.data() + offset, targets.data() + offset, static_cast<std::uint64_t>(first)}, i,
                          {first / micro_batch, R::batch / micro_batch});
      sum.loss += part.loss;
      sum.tokens += part.tokens;
    }
    const double per_token = 1.0 / static_cast<double>(sum.tokens);
    const double norm = std::sqrt(step.gradient_size(train::GradientNorm::two).sum.value()) * per_token;
    step.update({3e-4, 0.9, 0.95, 1e-8, 0.1, 1 - std::pow(0.9, i + 1), 1 - std::pow(0.95, i + 1),
                 per_token * std::min(1.0, 1 / norm), std::numeric_limits<double>::infinity()});
    const std::chrono::duration<double, std::milli> spent = std::chrono::steady_clock::now() - begin;
    if (i >= warm_up) milliseconds.push_back(spent.count());
    loss = sum.loss * per_token;
  }
  std::ranges::sort(milliseconds);
  fmt::print(
      "{{\"ms_per_step\": {:.2f}, \"ms_min\": {:.2f}, \"tokens_per_s\": {:.0f}, \"peak_mb\": {:.1f}, "
      "\"idle_mb\": {:.1f}, \"planned_mb\": {:.1f}, \"params\": {}, \"loss\": {:.4f}}}\n",
      milliseconds[milliseconds.size() / 2], milliseconds.front(),
      1e3 * static_cast<double>(n_tokens) / milliseconds[milliseconds.size() / 2],
      static_cast<double>(peak_resident_bytes()) / 1048576, static_cast<double>(idle_bytes) / 1048576,
      static_cast<double>(plan::bytes_per_rank<R>(1, micro_batch)) / 1048576, plan::params<R>, loss);
}
