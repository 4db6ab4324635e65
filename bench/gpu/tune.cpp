// Times each way that cuBLASLt recommends for each kind of product in a step of one recipe: gpu_tune_<recipe>
// [micro-batch] prints a line of JSON a product, with the line that the table of algorithms would have for the fastest
// way (tools/gpu/tune makes a table of them).
#include "bench/gpu/recipes.hpp"
#include "bench/step/random_step.hpp"
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
#include <limits>
#include <vector>

using namespace monomorph;
using R = On<RECIPE, device::Cuda>;

namespace {

/// One way of computing a product, started on its own.
class TimedProduct {
 public:
  TimedProduct(const cuda::Product& product, int rank) : product_(product), plan_(product, rank) {}
  cuda::Algorithm algorithm() const { return plan_.algorithm(); }

  /// Milliseconds of one, on average.
  double run(int times) const {
    const cuda::Queue queue;
    std::byte* const memory = cuda::workspace(queue, 2 * cuda::product_workspace_bytes);
    cudaEvent_t begin, end;
    cudaEventCreate(&begin), cudaEventCreate(&end);
    cudaEventRecord(begin, queue.stream);
    for (int i = 0; i < times; ++i) plan_.run(product_, queue, memory);
    cudaEventRecord(end, queue.stream);
    cudaEventSynchronize(end);
    float milliseconds = 0;
    cudaEventElapsedTime(&milliseconds, begin, end);
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return milliseconds / static_cast<double>(times);
  }

  double alone() const {
    run(2);
    std::vector<double> times;
    for (int i = 0; i < 7; ++i) times.push_back(run(1));
    std::ranges::sort(times);
    return times[times.size() / 2];
  }

  /// Steps that go on hold a GPU at its cap of power, where a way that takes less energy is faster than one that takes
  /// fewer cycles. So each way first brings the GPU to the clock that it leaves it.
  double under_load(double expected_ms) const {
    const auto times_in = [&](double milliseconds) { return 1 + static_cast<int>(milliseconds / expected_ms); };
    run(times_in(60));
    return run(times_in(90));
  }

 private:
  const cuda::Product& product_;
  cuda::ProductPlan plan_;
};

/// Milliseconds of a product under load, by the rank of the way; of ways that are clearly slower alone, infinite.
std::vector<double> measured(const cuda::Product& product, int n) {
  std::vector<TimedProduct> ways;
  std::vector<double> times;
  for (int rank = 0; rank < n; ++rank) times.push_back(ways.emplace_back(product, rank).alone());
  const double limit = 1.12 * std::ranges::min(times);
  ways[0].run(1 + static_cast<int>(200 / times[0]));
  for (int rank = 0; rank < n; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const bool tried = rank == 0 || times[i] <= limit;
    times[i] = tried ? ways[i].under_load(times[i]) : std::numeric_limits<double>::infinity();
  }
  return times;
}

void take_step(train::Step<R>& step, std::int64_t micro_batch) {
  std::mt19937 random(0);
  bench::RandomBatch<R> batch(micro_batch);
  batch.fill(random);
  for (const std::int64_t i : {0, 1})  // the second adds to gradients
    step.accumulate({batch.inputs.data(), batch.targets.data(), 0}, 1, {i, 2});
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
    const std::vector<double> times = measured(p, std::min(n, 16));
    const auto best = std::ranges::min_element(times) - times.begin();
    const double tera = 2e-9 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
                        static_cast<double>(p.batch.products);
    fmt::print(
        "{{\"m\": {}, \"n\": {}, \"k\": {}, \"a\": \"{}{}\", \"b\": \"{}{}\", \"d\": \"{}\", \"adds\": {}, \"batch\": "
        "{}, \"bias\": "
        "{}, "
        "\"first_ms\": {:.4f}, \"first_tflops\": {:.0f}, \"best\": {}, \"best_ms\": {:.4f}, \"best_tflops\": "
        "{:.0f}, \"line\": \"{}\"}}\n",
        p.m, p.n, p.k, name_of(p.a.dtype), p.a.transposed ? "^T" : "", name_of(p.b.dtype), p.b.transposed ? "^T" : "",
        name_of(p.d.dtype), p.adds_c, p.batch.products, p.bias != nullptr, times[0], tera / times[0], best,
        times[static_cast<std::size_t>(best)], tera / times[static_cast<std::size_t>(best)],
        cuda::AlgorithmTable::line(cuda::algorithm_place(), p,
                                   cuda::ProductPlan(p, static_cast<int>(best)).algorithm()));
  }
}
