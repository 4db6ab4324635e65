#include <cuda_runtime_api.h>

#include <cstring>
#include <stdexcept>

#include "runtime/cuda/host/check.hpp"

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new CUstream_st;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  stream->run_to(stream->work.size());
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event->stream != nullptr) stream->work.emplace_back([now = *event] { now.stream->run_to(now.place); });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new CUevent_st;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  *event = {stream, stream->work.size()};
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  stream->work.emplace_back([=] { std::memcpy(to, from, bytes); });
  return streams_run_early ? cudaStreamSynchronize(stream) : cudaSuccess;
}

void monomorph::cuda::check(cudaError_t status, const char* doing) {
  if (status != cudaSuccess) throw std::runtime_error(doing);
}
