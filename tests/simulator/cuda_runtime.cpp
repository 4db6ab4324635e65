// The functions of CUDA's runtime that the backend calls, as the simulator has them.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "simulator/simulator.hpp"

namespace {

using monomorph::simulator::Memory;
using monomorph::simulator::Simulator;
using monomorph::simulator::Status;

Simulator& gpu() { return Simulator::the(); }
cudaError_t error_of(Status status) { return static_cast<cudaError_t>(status); }

cudaError_t allocate(void** memory, std::size_t bytes, Memory::Kind kind) {
  if (gpu().refuses_in_capture()) return cudaErrorStreamCaptureUnsupported;
  if (gpu().status() != Status::success) return error_of(gpu().status());
  *memory = gpu().allocate(bytes, kind);
  return *memory == nullptr ? cudaErrorMemoryAllocation : cudaSuccess;
}

/// CUDA may wait for the GPU here and does not promise it, so the simulator does not: what still uses this memory when
/// it runs ends the program.
cudaError_t release(void* memory) {
  if (gpu().refuses_in_capture()) return cudaErrorStreamCaptureUnsupported;
  if (memory != nullptr) gpu().release(static_cast<std::byte*>(memory));
  return error_of(gpu().status());
}

void copy_rows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
               std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    std::byte* const destination = static_cast<std::byte*>(to) + row * to_pitch;
    const std::byte* const source = static_cast<const std::byte*>(from) + row * from_pitch;
    gpu().reads(source, width);
    gpu().writes(destination, width);
    std::memcpy(destination, source, width);
  }
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  *count = gpu().n_gpus();
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = gpu().device();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (device < 0 || device >= gpu().n_gpus()) return cudaErrorInvalidDevice;
  gpu().set_device(device);
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  properties->uuid.bytes[0] = static_cast<char>(device + 1);
  std::snprintf(properties->name, sizeof properties->name, "simulated GPU");
  properties->major = 9;
  properties->multiProcessorCount = 1;
  properties->major = gpu().compute_capability().major;
  properties->minor = gpu().compute_capability().minor;
  properties->totalGlobalMem = Memory::gpu_bytes;
  return cudaSuccess;
}
const char* cudaGetErrorString(cudaError_t error) {
  switch (static_cast<Status>(error)) {
    case Status::success:
      return "no error";
    case Status::invalid_value:
      return "invalid argument";
    case Status::out_of_memory:
      return "out of memory";
    case Status::illegal_address:
      return "an illegal memory access was encountered";
    case Status::capture_unsupported:
      return "operation not permitted when stream is capturing";
    case Status::capture_invalidated:
      return "operation failed due to a previous error during capture";
    case Status::capture_merge:
      return "operation would result in a merge of separate capture sequences";
    case Status::capture_unmatched:
      return "capture was not ended in the same stream as it began";
    case Status::capture_unjoined:
      return "capturing stream has unjoined work";
    case Status::capture_isolation:
      return "dependency created on uncaptured work in another stream";
    case Status::captured_event:
      return "operation not permitted on an event last recorded in a capturing stream";
    case Status::capture_wrong_thread:
      return "attempt to terminate a thread-local capture sequence from another thread";
    case Status::graph_update_failure:
      return "the graph update was not performed because it included changes which violated constraints specific to "
             "instantiated graph update";
  }
  return "an error that the simulator has not";
}

cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return allocate(memory, bytes, Memory::Kind::gpu); }
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) { return allocate(memory, bytes, Memory::Kind::host); }
cudaError_t cudaFree(void* memory) { return release(memory); }
cudaError_t cudaFreeHost(void* memory) { return release(memory); }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = gpu().memory().free_gpu_bytes();
  *total = Memory::gpu_bytes;
  return error_of(gpu().status());
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  if (flags != cudaStreamNonBlocking) return cudaErrorInvalidValue;  // the others are ordered with a stream of no name
  *stream = gpu().streams().open();
  return error_of(gpu().status());
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = *greatest = 0;
  return error_of(gpu().status());
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  gpu().streams().close(stream);
  return error_of(gpu().status());
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return error_of(gpu().wait_for(gpu().streams().end_of(stream), __builtin_return_address(0)));
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  return error_of(gpu().hold(stream, *event, __builtin_return_address(0)));
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  *event = new CUevent_st{.takes_time = flags == cudaEventDefault};
  return error_of(gpu().status());
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return error_of(gpu().status());
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event->takes_time && !stream->capture) gpu().give_moment(stream, event->time = std::make_shared<std::uint64_t>());
  return error_of(gpu().record(event, stream));
}
/// Of any thread. It runs nothing, and orders nothing.
cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event->capture) return cudaErrorCapturedEvent;
  if (gpu().refuses_in_capture()) return cudaErrorStreamCaptureUnsupported;
  if (gpu().status() != Status::success) return error_of(gpu().status());
  const monomorph::simulator::Place& place = event->place;
  return place.stream == nullptr || place.stream->n_done >= place.number ? cudaSuccess : cudaErrorNotReady;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t begin, cudaEvent_t end) {
  if (!begin->takes_time || !end->takes_time || !begin->time || !end->time) return cudaErrorInvalidValue;
  if (cudaEventQuery(begin) == cudaErrorNotReady || cudaEventQuery(end) == cudaErrorNotReady) return cudaErrorNotReady;
  *milliseconds = (static_cast<float>(*end->time) - static_cast<float>(*begin->time)) / 1000;
  return error_of(gpu().status());
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (event->capture) return cudaErrorCapturedEvent;
  return error_of(gpu().wait_for(event->place, __builtin_return_address(0)));
}

// CUDA may read memory of the host that it does not keep in place before these return, and does not promise it.
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                              std::size_t width, std::size_t rows, cudaMemcpyKind, cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
  // What the host has said only once is not what a graph should copy each time, where it is not kept in place.
  if (stream->capture && (!gpu().memory().has(to) || !gpu().memory().has(from))) {
    stream->capture->invalidate();
    return cudaErrorStreamCaptureUnsupported;
  }
  ++gpu().counts().copies;
  return error_of(gpu().give(stream, "copy", [=] { copy_rows(to, to_pitch, from, from_pitch, width, rows); }));
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  return error_of(gpu().give(stream, "fill", [=] {
    gpu().writes(memory, bytes);
    gpu().memory().fill(memory, value, bytes);
  }));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  using Mode = monomorph::simulator::Capture::Mode;
  return error_of(gpu().begin_capture(stream, mode == cudaStreamCaptureModeGlobal        ? Mode::global
                                              : mode == cudaStreamCaptureModeThreadLocal ? Mode::thread_local_
                                                                                         : Mode::relaxed));
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  auto captured = std::make_unique<CUgraph_st>();
  *graph = nullptr;
  const cudaError_t status = error_of(gpu().end_capture(stream, captured->graph));
  if (status == cudaSuccess) *graph = captured.release();
  return status;
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t graph, unsigned long long) {
  *made = new CUgraphExec_st{graph->graph};
  return error_of(gpu().status());
}
/// Launches that are under way are as the graph was.
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t to, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* result) {
  *result = {};
  result->result = cudaGraphExecUpdateSuccess;
  if (!to->graph.has_form_of(graph->graph)) {
    result->result = cudaGraphExecUpdateErrorTopologyChanged;
    return cudaErrorGraphExecUpdateFailure;
  }
  to->graph = graph->graph;
  return error_of(gpu().status());
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream) {
  if (stream->capture) {
    stream->capture->invalidate();
    return cudaErrorStreamCaptureUnsupported;
  }
  return error_of(gpu().launch(graph->graph, stream));
}
cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete graph;
  return error_of(gpu().status());
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph) {
  delete graph;
  return error_of(gpu().status());
}
