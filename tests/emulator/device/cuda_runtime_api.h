#pragma once
#include <cstddef>
#include <functional>
#include <vector>

/// As much of CUDA's runtime as the order of streams needs, for tests without a GPU: a stream is a list of work, and an
/// event a place in it. Work runs as late as streams and events let it, or copies as early as they may.

struct CUstream_st {
  std::vector<std::function<void()>> work{};
  std::size_t n_done = 0;
  void run_to(std::size_t end) {
    while (n_done < end) {
      const auto next = work[n_done++];
      next();
    }
  }
};
struct CUevent_st {
  CUstream_st* stream = nullptr;
  std::size_t place = 0;
};
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;
enum cudaError_t { cudaSuccess };
enum cudaMemcpyKind { cudaMemcpyDefault };
constexpr unsigned cudaStreamNonBlocking = 1, cudaEventDisableTiming = 2;

/// Whether streams that were opened here, which copy, run as soon as events let them.
inline bool streams_run_early = false;

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
