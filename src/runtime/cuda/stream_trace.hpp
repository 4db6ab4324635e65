#pragma once
#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>
#include <monomorph/runtime/machine/trace.hpp>

#include <deque>

namespace monomorph::cuda {

/// What a GPU's streams did when. The host does not see it happen: events on the streams are read once they have come
/// to pass, and become lines of the trace then.
class StreamTrace {
 public:
  struct Span {
    Trace* trace;
    Trace::Row row;
    const char* what;
    int unit;
    at::cuda::CUDAEvent begin{cudaEventDefault}, end{cudaEventDefault};
  };

  /// Puts `act` between two events of the stream; calls no more than that without a trace.
  template <class Act>
  void around(Trace* trace, Trace::Row row, const char* what, int unit, const c10::cuda::CUDAStream& stream, Act act) {
    if (trace == nullptr) return act();
    Span& span = open(trace, row, what, unit, stream);
    act();
    span.end.record(stream);
  }
  /// Hands on what is over.
  void collect();

 private:
  Span& open(Trace* trace, Trace::Row row, const char* what, int unit, const c10::cuda::CUDAStream& stream);
  void set_clock(c10::DeviceIndex device);
  Trace::Clock::time_point time_of(const at::cuda::CUDAEvent& event) const;

  std::deque<Span> spans_;  ///< a deque, so that an open one stays where it is
  at::cuda::CUDAEvent zero_{cudaEventDefault};
  Trace::Clock::time_point zero_time_;
};

}  // namespace monomorph::cuda
