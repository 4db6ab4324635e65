#pragma once
#include <cstdint>
#include <monomorph/core/owned.hpp>
#include <monomorph/runtime/cuda/queue.hpp>

namespace monomorph::cuda {

/// A CUDA graph of what the queue was given once, together with what other streams did for it. Each run of it gives the
/// GPU all of that at once. Its kernels keep the arguments that they were recorded with; what differs between runs they
/// read from memory that the host fills before each run: ids and places of documents, the settings of a step, and what
/// DropoutKey and UpdateTerms say of the run.
class Recording {
 public:
  /// @param input_bytes the most that the host fills in before a run
  Recording(Queue queue, std::int64_t input_bytes);
  Recording(const Recording&) = delete;
  /// The caller has waited for the last run.
  ~Recording();

  /// Begins to record: what the queue is given from now on does not run. Until end() the caller must not make it depend
  /// on work that other streams began earlier, allocate memory of the device, or wait for the queue.
  void begin();
  /// Ends the recording, after the queue has been made to wait for the other streams.
  /// @throws Error [GPU-02] CUDA has not recorded it
  void end();
  /// Gives up a recording that failed, so that the queue runs again what it is given.
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
