#pragma once
#include <cstdint>
#include <monomorph/runtime/cuda/queue.hpp>
#include <monomorph/runtime/memory/transfers.hpp>

namespace monomorph::cuda {

/// Copies between the GPU's memory and that of host_allocator, one after the other on a stream of their own, beside the
/// kernels of a queue. The functions are those of QueuedTransfers; events order the two streams, and the host never
/// waits.
class StreamTransfers {
 public:
  explicit StreamTransfers(Queue queue);
  StreamTransfers(const StreamTransfers&) = delete;
  ~StreamTransfers();

  std::uint64_t start(View from, View to);
  void wait(std::uint64_t number);
  void wait_for_all();
  /// After a recording that failed: the copies that it started never run, and nobody waits for them.
  void forget();

 private:
  struct Streams;  // CUDA's header
  Owned<Streams> streams_;
};

/// When a copy runs is for the streams to say, so that none can be as late as a test would like.
inline StreamTransfers transfers(Queue queue, Transfers::Timing) { return StreamTransfers(queue); }

}  // namespace monomorph::cuda
