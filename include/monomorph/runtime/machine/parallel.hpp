#pragma once
#include <cstdint>
#include <type_traits>

namespace monomorph {

/// Threads that compute: OMP_NUM_THREADS, or the cores of the machine.
int compute_threads();

namespace detail {
void parallel_for(std::int64_t n_tasks, void (*task)(void*, std::int64_t), void* context);
}

/// Calls f(i) for i in [0, n_tasks) on the threads that LibTorch's matrix products use, too. What a task computes must
/// depend on i alone, so that no bit of a result depends on the number of threads. Allocates nothing.
template <class F> void parallel_for(std::int64_t n_tasks, F&& f) {
  detail::parallel_for(
      n_tasks, [](void* context, std::int64_t i) { (*static_cast<std::remove_reference_t<F>*>(context))(i); },
      const_cast<void*>(static_cast<const void*>(&f)));
}

}  // namespace monomorph
