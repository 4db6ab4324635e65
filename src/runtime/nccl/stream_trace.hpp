#pragma once
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>
#include <monomorph/runtime/machine/trace.hpp>

#include <deque>

namespace monomorph::cuda {

/// Records in a trace when a GPU's streams did what. The host does not see that happen, so events are put on the
/// streams, and added to the trace once they have been reached.
class StreamTrace {
 public:
  struct Span {
    Trace* trace;
    TraceRow row;
    const char* what;
    int unit;
    at::cuda::CUDAEvent begin{cudaEventDefault}, end{cudaEventDefault};
  };

  /// Calls `act` between two events on the stream; without a trace it only calls `act`.
  template <class Act>
  void around(Trace* trace, TraceRow row, const char* what, int unit, const c10::cuda::CUDAStream& stream, Act act) {
    if (trace == nullptr) return act();
    Span& span = open(trace, row, what, unit, stream);
    act();
    span.end.record(stream);
  }
  /// Adds what has ended to its trace.
  void collect();

 private:
  Span& open(Trace* trace, TraceRow row, const char* what, int unit, const c10::cuda::CUDAStream& stream);
  void set_clock(c10::DeviceIndex device);
  Trace::Clock::time_point time_of(const at::cuda::CUDAEvent& event) const;

  std::deque<Span> spans_;  ///< a deque, so that a reference to an open one stays valid
  at::cuda::CUDAEvent zero_{cudaEventDefault};
  Trace::Clock::time_point zero_time_;
};

}  // namespace monomorph::cuda
