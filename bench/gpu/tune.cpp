// Times each way that cuBLASLt recommends for each kind of product in a step of one recipe: gpu_tune_<recipe>
// [micro-batch] prints a line of JSON a product, with the line that the table of algorithms would have for the fastest
// way (tools/gpu/tune makes a table of them).
#include "bench/gpu/recipes.hpp"
#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/products/algorithm_table.hpp"
#include "runtime/cuda/products/product.hpp"

#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/step.hpp>

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <vector>

using namespace monomorph;
using R = On<RECIPE, device::Cuda>;

namespace {

/// Milliseconds, the median of several runs.
double time_of(const cuda::Product& product, int rank) {
  const cuda::Queue queue;
  const cuda::ProductPlan plan(product, rank);
  std::byte* const memory = cuda::workspace(queue, 2 * cuda::product_workspace_bytes);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  std::vector<float> times;
  for (int i = 0; i < 9; ++i) {
    cudaEventRecord(begin, queue.stream);
    plan.run(product, queue, memory);
    cudaEventRecord(end, queue.stream);
    cudaEventSynchronize(end);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    if (i >= 2) times.push_back(milliseconds);
  }
  cudaEventDestroy(begin), cudaEventDestroy(end);
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void take_step(train::Step<R>& step, std::int64_t micro_batch) {
  const std::vector<std::int32_t> ids(static_cast<std::size_t>(micro_batch * R::model.context_length), 7);
  for (const std::int64_t i : {0, 1})  // the second adds to gradients
    step.accumulate({ids.data(), ids.data(), 0}, 1, {i, 2});
  step.read(step.decide({}));
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t micro_batch = argc > 1 ? std::atoi(argv[1]) : 32;
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, micro_batch, 0);
  take_step(step, micro_batch);
  for (const cuda::Product& p : cuda::planned_products()) {
    const int n = cuda::ProductPlan(p, 0).candidates();
    if (n == 0) continue;  // without such an epilogue
    std::vector<double> times;
    for (int rank = 0; rank < std::min(n, 16); ++rank) times.push_back(time_of(p, rank));
    const auto best = std::ranges::min_element(times) - times.begin();
    const double tera = 2e-9 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    fmt::print(
        "{{\"m\": {}, \"n\": {}, \"k\": {}, \"a\": \"{}{}\", \"b\": \"{}{}\", \"d\": \"{}\", \"adds\": {}, \"bias\": "
        "{}, "
        "\"first_ms\": {:.4f}, \"first_tflops\": {:.0f}, \"best\": {}, \"best_ms\": {:.4f}, \"best_tflops\": "
        "{:.0f}, \"line\": \"{}\"}}\n",
        p.m, p.n, p.k, name_of(p.a.dtype), p.a.transposed ? "^T" : "", name_of(p.b.dtype), p.b.transposed ? "^T" : "",
        name_of(p.d.dtype), p.adds_c, p.bias != nullptr, times[0], tera / times[0], best,
        times[static_cast<std::size_t>(best)], tera / times[static_cast<std::size_t>(best)],
        cuda::AlgorithmTable::line(cuda::algorithm_place(), p,
                                   cuda::ProductPlan(p, static_cast<int>(best)).algorithm()));
  }
}
