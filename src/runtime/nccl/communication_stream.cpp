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
  for (cudaEvent_t event : done_)
    if (event != nullptr) cudaEventDestroy(event);
  cudaEventDestroy(computed_);
  cudaStreamDestroy(stream_);
}

void CommunicationStream::after_compute() {
  check(cudaEventRecord(computed_, compute_), "recording an event");
  check(cudaStreamWaitEvent(stream_, computed_, 0), "waiting for an event");
}

void CommunicationStream::done(int unit) {
  if (unit >= static_cast<int>(done_.size())) done_.resize(unit + 1);
  if (done_[unit] == nullptr) done_[unit] = new_event();
  check(cudaEventRecord(done_[unit], stream_), "recording an event");
}

void CommunicationStream::before_compute(int unit) {
  if (unit < static_cast<int>(done_.size()) && done_[unit] != nullptr)
    check(cudaStreamWaitEvent(compute_, done_[unit], 0), "waiting for an event");
}

}  // namespace monomorph::cuda
