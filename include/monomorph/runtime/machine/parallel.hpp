#pragma once
#include <cstdint>
#include <type_traits>

namespace monomorph {

/// Threads that compute: OMP_NUM_THREADS, or the cores of the machine.
int compute_threads();

namespace detail {
void parallel_for(std::int64_t n_tasks, void (*task)(void*, std::int64_t), void* context);
void parallel_tasks(std::int64_t n_tasks, void (*task)(void*, std::int64_t), void* context);
template <class F> void call_task(void* f, std::int64_t i) { (*static_cast<F*>(f))(i); }
template <class F> void* context_of(F& f) { return const_cast<void*>(static_cast<const void*>(&f)); }
}  // namespace detail

/// Calls f(i) for i in [0, n_tasks) on the threads that LibTorch's matrix products use, too. What a task computes must
/// depend on i alone, so that no bit of a result depends on the number of threads. Allocates nothing.
template <class F> void parallel_for(std::int64_t n_tasks, F&& f) {
  detail::parallel_for(n_tasks, detail::call_task<std::remove_reference_t<F>>, detail::context_of(f));
}

/// The same for tasks that differ in length: each thread takes the next one when it has done its last. Give the longest
/// first.
template <class F> void parallel_tasks(std::int64_t n_tasks, F&& f) {
  detail::parallel_tasks(n_tasks, detail::call_task<std::remove_reference_t<F>>, detail::context_of(f));
}

}  // namespace monomorph
