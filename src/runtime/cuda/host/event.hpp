#pragma once
#include "runtime/cuda/host/check.hpp"

namespace monomorph::cuda {

/// An event that orders streams and takes no times, which would cost more.   @throws as check
inline cudaEvent_t new_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
  return event;
}

}  // namespace monomorph::cuda
