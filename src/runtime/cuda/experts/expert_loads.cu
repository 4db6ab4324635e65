#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/launch/launch.hpp"
#include "runtime/cuda/launch/pack.hpp"
#include "runtime/cuda/sums/block_reduction.hpp"
#include "runtime/kernels/dtypes.hpp"

namespace monomorph::cuda {
namespace {

constexpr int load_threads = 256;

__global__ void __launch_bounds__(load_threads)
    add_counts(const std::int32_t* counts, int n_experts, std::int64_t* loads) {
  for (int expert = static_cast<int>(threadIdx.x); expert < n_experts; expert += load_threads)
    loads[expert] += counts[expert];
}

struct OfAllExperts {};

/// The sign of what each expert lacks of the mean load in the place of its bias's gradient, and zeros elsewhere.
/// @param first the expert with which the run begins
template <class G>
__global__ void __launch_bounds__(load_threads)
    compare_with_mean(const std::int64_t* loads, std::int64_t n_experts, std::int64_t first,
                      const UpdateDecision* decision, G* gradient, std::int64_t n) {
  if (!decision->applies) return;
  std::int64_t own = 0;
  for (std::int64_t expert = threadIdx.x; expert < n_experts; expert += load_threads) own += loads[expert];
  const std::int64_t total = joined_in_block<OfAllExperts>(own, Sum());
  for (std::int64_t i = std::int64_t{blockIdx.x} * load_threads + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * load_threads) {
    const std::int64_t expert = first + i;
    const std::int64_t all = 0 <= expert && expert < n_experts ? loads[expert] * n_experts : total;
    gradient[i] = converted<G>(static_cast<float>((total > all) - (total < all)));
  }
}

}  // namespace

void add_loads(Queue queue, const Routing& routing, std::int64_t* loads) {
  const KernelSpan span(Work::elementwise, "add_loads", queue.stream);
  launch(add_counts, {1, load_threads}, queue, routing.counts_E, static_cast<int>(routing.n_experts), loads);
}

void balance_biases(Queue queue, const ElementUpdate& run, std::int64_t first, const std::int64_t* loads,
                    std::int64_t n_experts, double rate, const UpdateTerms& terms) {
  const KernelSpan span(Work::optimizer, "balance_biases", queue.stream);
  const std::int64_t n = run.gradient.elements();
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>((n + load_threads - 1) / load_threads);
  in_element_type(run.gradient.dtype, [&]<class G>() {
    launch(compare_with_mean<G>, {blocks, load_threads}, queue, loads, n_experts,
           static_cast<std::int64_t>(run.first) - first, terms.decision, run.gradient.as<G>(), n);
  });
  UpdateTerms unscheduled = terms;  // the rate is the same in all steps
  unscheduled.of_run = nullptr;
  step_along(queue, run, {.learning_rate = -rate, .weight_decay = 0}, unscheduled);  // bias -= -rate · sign
}

}  // namespace monomorph::cuda
