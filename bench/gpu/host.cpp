// How much of the processor's time the host needs to ask a GPU for a step of a recipe, and which calls it makes:
// gpu_host_<recipe> kernels|recorded [<steps>] [<micro-batch>] [<micro-batches a step>] prints a line of JSON. The
// backend is as it is, and CUDA's libraries only count what they are asked for, so that their own time is not in it.
#include "bench/gpu/host_calls.hpp"
#include "bench/gpu/recipes.hpp"
#include "bench/step/random_step.hpp"

#include <monomorph/runtime/comm/world.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string_view>
#include <vector>

using namespace monomorph;
using R = On<RECIPE, device::Cuda>;
using bench::host::Calls;

namespace {

/// Of all threads of this process, in microseconds.
double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) / 1e3;
}

/// What one of the calls takes that do nothing but count.
double time_of_a_call() {
  constexpr int n = 5'000'000;
  cudaError_t (*volatile call)(cudaEvent_t, cudaStream_t) = cudaEventRecord;
  const double begin = processor_time();
  for (int i = 0; i < n; ++i) call(nullptr, nullptr);
  return (processor_time() - begin) / n;
}

Calls difference(const Calls& now, const Calls& before) {
  Calls of = now;
  for (std::size_t i = 0; i < bench::host::n_kinds; ++i) of.by_kind[i] -= before.by_kind[i];
  return of;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view how = argc > 1 ? argv[1] : "";
  if (how != "kernels" && how != "recorded") return 2;
  const int steps = bench::argument(argc, argv, 2, 50), micro_batch = bench::argument(argc, argv, 3, 32),
            accumulated = bench::argument(argc, argv, 4, 1);
  constexpr int warm_up = 4;
  const auto communicator = one_rank();
  std::mt19937 random(0);
  bench::RandomBatch<R> batch(static_cast<std::int64_t>(micro_batch) * accumulated);
  batch.fill(random);
  train::Step<R> step(*communicator, micro_batch, 0);
  step.record_steps(how == "recorded");
  std::vector<double> times;
  train::Ticket last = bench::take_step(step, batch, micro_batch, 1);
  Calls before{};
  for (int i = 0; i < warm_up + steps; ++i) {
    if (i == warm_up) before = bench::host::calls;
    const double begin = processor_time();
    const train::Ticket next = bench::take_step(step, batch, micro_batch, i + 2);
    step.read(last);  // of the step before, as a run does
    if (i >= warm_up) times.push_back(processor_time() - begin);
    last = next;
  }
  const Calls of = difference(bench::host::calls, before);
  if (const std::string note = step.take_recording_note(); !note.empty()) {
    fmt::print(stderr, "{}\n", note);
    return 1;
  }
  std::ranges::sort(times);
  fmt::print(
      "{{\"recipe\": \"{}\", \"how\": \"{}\", \"micro_batch\": {}, \"micro_batches\": {}, \"steps\": {}, "
      "\"us\": {{\"least\": {:.1f}, \"median\": {:.1f}, \"most\": {:.1f}}}, \"us_of_a_call\": {:.5f}, "
      "\"graph_nodes\": {}, \"calls\": [{}]}}\n",
      R_NAME, how, micro_batch, accumulated, steps, times.front(), times[times.size() / 2], times.back(),
      time_of_a_call(), of.nodes, fmt::join(of.by_kind, ", "));
}
