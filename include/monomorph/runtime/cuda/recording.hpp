#pragma once
#include <cstdint>
#include <monomorph/core/owned.hpp>
#include <monomorph/runtime/cuda/queue.hpp>

namespace monomorph::cuda {

/// What the queue was given once, as a CUDA graph, which the GPU then gets again as a whole, with what other streams do
/// for it. Kernels of it have the arguments that they were called with, but for what the host tells them anew before
/// each run: ids and places of documents, the settings of a step, and what DropoutKey and UpdateTerms say of the run.
class Recording {
 public:
  /// @param input_bytes of what the host tells it before each run, at most
  Recording(Queue queue, std::int64_t input_bytes);
  Recording(const Recording&) = delete;
  /// It runs no more.
  ~Recording();

  /// What the queue is given from now on is recorded and does not run. It depends on nothing that other streams still
  /// do, and nothing that is allocated, or waited for by the host, comes before end().
  void begin();
  /// Other streams have been waited for.   @throws Error [GPU-02] CUDA has not recorded it
  void end();
  /// Of a recording that failed: the queue runs again what it is given.
  void abandon() noexcept;

  /// Puts it on the queue.
  void run();

 private:
  struct Graph;  // CUDA's header
  Owned<Graph> graph_;
};

/// A device that has this function records what its queue is given.
inline Recording recording(Queue queue, std::int64_t input_bytes) { return {queue, input_bytes}; }

}  // namespace monomorph::cuda
