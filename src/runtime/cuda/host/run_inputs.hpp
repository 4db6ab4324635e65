#pragma once
#include "runtime/cuda/host/event.hpp"

#include <monomorph/runtime/cuda/queue.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace monomorph::cuda {

/// What kernels that are recorded read of the host: it lies in one piece of the GPU's memory, and is brought there as a
/// whole before each run. The host writes it to one of two pieces of pinned memory in turn, so that it need not wait
/// for the run before.
class RunInputs {
 public:
  /// @param bytes of all that is recorded, at most   @throws UsageError [GPU-05], [GPU-06] there is not so much memory
  RunInputs(Queue queue, std::int64_t bytes);
  RunInputs(const RunInputs&) = delete;
  /// The queue runs nothing any more that reads them.
  ~RunInputs();

  /// Those of the recording that goes on in this process; null if none does.
  static RunInputs* recorded();
  void begin();
  void end();

  // While it is recorded.
  /// @return where the GPU finds what `write` writes   @throws Error [GPU-08] there is no more place
  const std::byte* place(std::int64_t bytes, std::function<void(std::byte*)> write);
  /// The same for a copy of memory of the host, which has one place however often it is asked for.
  const std::byte* copied(const void* host, std::int64_t bytes);

  /// Puts on the queue what brings them to the GPU as they are now.
  void send();

 private:
  /// Without memory: a constructor that delegates to this one gives back what it has got where it is refused the rest.
  struct Empty {};
  RunInputs(Queue queue, std::int64_t bytes, Empty) : queue_(queue), bytes_(bytes) {}

  struct Input {
    std::int64_t at;
    std::function<void(std::byte*)> write;
  };
  /// Pinned memory, and when the GPU has copied what was there.
  struct Outbox {
    std::byte* memory = nullptr;
    cudaEvent_t sent = nullptr;
  };

  Queue queue_;
  std::int64_t bytes_, used_ = 0;
  std::byte* on_gpu_ = nullptr;
  std::array<Outbox, 2> outboxes_{};
  std::size_t n_sent_ = 0;
  std::vector<Input> inputs_;
  std::map<std::pair<const void*, std::int64_t>, const std::byte*> copies_;
};

}  // namespace monomorph::cuda
