#include "runtime/cuda/host/event.hpp"

#include <monomorph/runtime/cuda/transfers.hpp>
#include <monomorph/runtime/machine/trace.hpp>

#include <array>

namespace monomorph::cuda {

struct StreamTransfers::Streams {
  cudaStream_t compute, copies = nullptr;
  cudaEvent_t computed = nullptr;  ///< the kernels that the last copy has to wait for
  /// By the copy's number: that it is done. A later copy takes the event of an earlier one over, behind which it is
  /// done anyway.
  std::array<cudaEvent_t, 64> done{};
  std::uint64_t n_started = 0, waited_for = 0;

  explicit Streams(Queue queue) : compute(queue.stream) {
    check(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking), "opening a stream");
    computed = new_event();
    for (cudaEvent_t& event : done) event = new_event();
  }
  /// Nothing is thrown where a step ends, maybe because of a failure of the GPU.
  ~Streams() {
    cudaStreamSynchronize(copies);
    for (cudaEvent_t event : done) cudaEventDestroy(event);
    cudaEventDestroy(computed);
    cudaStreamDestroy(copies);
  }
  cudaEvent_t done_of(std::uint64_t number) const { return done[number % done.size()]; }
};

StreamTransfers::StreamTransfers(Queue queue) : streams_(make_owned<Streams>(queue)) {}
StreamTransfers::~StreamTransfers() = default;

std::uint64_t StreamTransfers::start(View from, View to) {
  Streams& s = *streams_;
  check(cudaEventRecord(s.computed, s.compute), "recording an event");
  check(cudaStreamWaitEvent(s.copies, s.computed, 0), "waiting for an event");
  {
    const StreamSpan span(kernels_trace, copies_row, "copy", no_unit, s.copies);
    check(cudaMemcpyAsync(to.data, from.data, static_cast<std::size_t>(from.bytes()), cudaMemcpyDefault, s.copies),
          "copying between it and the host");
  }
  check(cudaEventRecord(s.done_of(++s.n_started), s.copies), "recording an event");
  return s.n_started;
}

void StreamTransfers::wait(std::uint64_t number) {
  Streams& s = *streams_;
  if (number <= s.waited_for) return;  // the queue waits for it already
  s.waited_for = number;
  const KernelSpan span(Work::copies, "wait for a copy", s.compute);
  check(cudaStreamWaitEvent(s.compute, s.done_of(number), 0), "waiting for an event");
}

void StreamTransfers::wait_for_all() { wait(streams_->n_started); }
void StreamTransfers::forget() { streams_->waited_for = streams_->n_started; }

}  // namespace monomorph::cuda
