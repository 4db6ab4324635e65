#include "runtime/nccl/stream_trace.hpp"

namespace monomorph::cuda {

StreamTrace::Span& StreamTrace::open(Trace* trace, TraceRow row, const char* what, int unit,
                                     const c10::cuda::CUDAStream& stream) {
  if (spans_.empty()) set_clock(stream.device_index());  // again for each trace: times between events are floats
  spans_.push_back({trace, row, what, unit});
  spans_.back().begin.record(stream);
  return spans_.back();
}

void StreamTrace::collect() {
  while (!spans_.empty() && spans_.front().end.isCreated() && spans_.front().end.query()) {
    const Span& span = spans_.front();
    span.trace->add(span.row, span.what, span.unit, time_of(span.begin), time_of(span.end));
    spans_.pop_front();
  }
}

/// Records on a stream of its own, where the event waits for nothing.
void StreamTrace::set_clock(c10::DeviceIndex device) {
  zero_.record(c10::cuda::getStreamFromPool(false, device));
  zero_.synchronize();
  zero_time_ = Trace::Clock::now();
}

Trace::Clock::time_point StreamTrace::time_of(const at::cuda::CUDAEvent& event) const {
  const std::chrono::duration<double, std::milli> since(zero_.elapsed_time(event));
  return zero_time_ + std::chrono::duration_cast<Trace::Clock::duration>(since);
}

}  // namespace monomorph::cuda
