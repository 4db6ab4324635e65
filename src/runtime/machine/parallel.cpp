#include <algorithm>
#include <atomic>
#include <monomorph/runtime/machine/parallel.hpp>

// The interface between compiled code and GNU's OpenMP library, which LibTorch's matrix products use as well. Calling
// it directly serves g++ and clang++ alike: -fopenmp would bring a second library under clang++.
extern "C" {
void GOMP_parallel(void (*region)(void*), void* data, unsigned n_threads, unsigned flags);
int omp_get_max_threads(void);
int omp_get_num_threads(void);
int omp_get_thread_num(void);
int omp_in_parallel(void);
}

namespace monomorph {

int compute_threads() { return omp_get_max_threads(); }

namespace detail {
namespace {
struct Work {
  std::int64_t n_tasks;
  void (*task)(void*, std::int64_t);
  void* context;
};

// Each thread takes one contiguous range: rows that it has just written are still in its cache at the next kernel.
void run_share(void* data) {
  const auto& work = *static_cast<const Work*>(data);
  const std::int64_t thread = omp_get_thread_num(), threads = omp_get_num_threads();
  const std::int64_t end = work.n_tasks * (thread + 1) / threads;
  for (std::int64_t i = work.n_tasks * thread / threads; i < end; ++i) work.task(work.context, i);
}

struct Tasks : Work {
  std::atomic<std::int64_t> next = 0;
};
void run_tasks(void* data) {
  auto& tasks = static_cast<Tasks&>(*static_cast<Work*>(data));
  for (std::int64_t i = tasks.next++; i < tasks.n_tasks; i = tasks.next++) tasks.task(tasks.context, i);
}

void on_threads(Work& work, void (*share)(void*)) {
  const int threads = static_cast<int>(std::min<std::int64_t>(work.n_tasks, compute_threads()));
  if (threads <= 1 || omp_in_parallel())
    for (std::int64_t i = 0; i < work.n_tasks; ++i) work.task(work.context, i);
  else
    GOMP_parallel(share, &work, static_cast<unsigned>(threads), 0);
}
}  // namespace

void parallel_for(std::int64_t n_tasks, void (*task)(void*, std::int64_t), void* context) {
  Work work{n_tasks, task, context};
  on_threads(work, run_share);
}

void parallel_tasks(std::int64_t n_tasks, void (*task)(void*, std::int64_t), void* context) {
  Tasks tasks{{n_tasks, task, context}};
  on_threads(tasks, run_tasks);
}

}  // namespace detail
}  // namespace monomorph
