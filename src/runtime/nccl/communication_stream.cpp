#include "runtime/nccl/communication_stream.hpp"

#include "runtime/cuda/host/event.hpp"

namespace monomorph::cuda {

/// Kernels of collectives are few blocks that others wait for, so they go before those of compute.
CommunicationStream::CommunicationStream(CUstream_st* compute, Watchdog& watchdog)
    : compute_(compute), watchdog_(watchdog), computed_(new_event()) {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "opening a stream");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest), "opening a stream");
}

CommunicationStream::~CommunicationStream() {
  for (const Last& last : last_)
    if (last.done != nullptr) cudaEventDestroy(last.done);
  cudaEventDestroy(computed_);
  cudaStreamDestroy(stream_);
}

void CommunicationStream::after_compute() {
  check(cudaEventRecord(computed_, compute_), "recording an event");
  check(cudaStreamWaitEvent(stream_, computed_, 0), "waiting for an event");
}

void CommunicationStream::done(int unit) {
  if (unit >= static_cast<int>(last_.size())) last_.resize(unit + 1);
  Last& last = last_[unit];
  if (last.done == nullptr) last.done = new_event();
  check(cudaEventRecord(last.done, stream_), "recording an event");
  last.is_waited_for = false;
}

void CommunicationStream::before_compute(int unit) {
  if (unit >= static_cast<int>(last_.size()) || last_[unit].is_waited_for) return;
  last_[unit].is_waited_for = true;
  check(cudaStreamWaitEvent(compute_, last_[unit].done, 0), "waiting for an event");
}

void CommunicationStream::forget() {
  for (Last& last : last_) last.is_waited_for = true;
}

}  // namespace monomorph::cuda
