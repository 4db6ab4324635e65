#pragma once
#include <cstdint>
#include <monomorph/runtime/machine/parallel.hpp>

namespace monomorph::cpu {

/// Runs what it is given at once, where it is called. Kernels of a device take its queue first, and are found by it.
struct Queue {};

/// When it returns, what the queue was given has run, and may be read.
inline void synchronize(Queue) {}

/// Calls f once, behind what the queue was given before and before what it is given later: for what an objective does
/// between kernels, and for what begins or awaits collectives and copies. Only devices that run functions of the host
/// have it.
template <class F> void once(Queue, F&& f) { f(); }

/// Calls f(i) for i in [0, n), each on one thread: kernels that it calls do not divide their work any further.
template <class F> void side_by_side(Queue, std::int64_t n, F&& f) { parallel_tasks(n, f); }

}  // namespace monomorph::cpu

namespace monomorph {

/// A function of the host can take its turn among the kernels of the queue, and reach their memory while it runs.
template <class Queue> concept RunsHostFunctions = requires(Queue queue, void (*f)()) { once(queue, f); };

}  // namespace monomorph
