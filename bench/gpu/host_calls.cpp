// CUDA's runtime, cuBLASLt and cuDNN, as far as a step on one GPU calls them: each call is counted and returns. Memory
// is addresses that nobody touches but what the host itself writes; everything has happened as soon as it is asked for.
#include "bench/gpu/host_calls.hpp"

#include "runtime/cuda/attention/cudnn_plan.hpp"
#include "runtime/cuda/host/staging.hpp"

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <sys/mman.h>
#include <monomorph/device/cudnn_attention.hpp>

#include <cstdio>

namespace {

using bench::host::Call;
using bench::host::count;

constexpr std::size_t gpu_bytes = std::size_t{141} * 1'000'000'000;  // an H200's

cudaError_t done(Call kind) {
  count(kind);
  return cudaSuccess;
}
cublasStatus_t described() {
  count(Call::description);
  return CUBLAS_STATUS_SUCCESS;
}
/// What the backend holds and hands back, and never looks into.
template <class T> T handle() {
  static char something;
  return reinterpret_cast<T>(&something);
}
cudaError_t addresses(void** memory, std::size_t bytes) {
  *memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  count(Call::memory);
  return *memory == MAP_FAILED ? cudaErrorMemoryAllocation : cudaSuccess;
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count_of) {
  *count_of = 1;
  return done(Call::other);
}
cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return done(Call::other);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "no GPU");
  properties->major = 9;
  properties->multiProcessorCount = 132;
  properties->totalGlobalMem = gpu_bytes;
  return done(Call::other);
}
const char* cudaGetErrorString(cudaError_t) { return "no error"; }

cudaError_t cudaMalloc(void** memory, std::size_t bytes) { return addresses(memory, bytes); }
cudaError_t cudaMallocHost(void** memory, std::size_t bytes) { return addresses(memory, bytes); }
cudaError_t cudaFree(void*) { return done(Call::memory); }
cudaError_t cudaFreeHost(void*) { return done(Call::memory); }
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  *free = *total = gpu_bytes;
  return done(Call::other);
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = handle<cudaStream_t>();
  return done(Call::other);
}
cudaError_t cudaStreamDestroy(cudaStream_t) { return done(Call::other); }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return done(Call::wait); }
cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned) { return done(Call::event); }
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = handle<cudaEvent_t>();
  return done(Call::other);
}
cudaError_t cudaEventDestroy(cudaEvent_t) { return done(Call::other); }
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return done(Call::event); }
cudaError_t cudaEventQuery(cudaEvent_t) { return done(Call::wait); }
cudaError_t cudaEventSynchronize(cudaEvent_t) { return done(Call::wait); }
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;
  return done(Call::other);
}

cudaError_t cudaMemcpyAsync(void*, const void*, std::size_t, cudaMemcpyKind, cudaStream_t) { return done(Call::copy); }
cudaError_t cudaMemcpy2DAsync(void*, std::size_t, const void*, std::size_t, std::size_t, std::size_t, cudaMemcpyKind,
                              cudaStream_t) {
  return done(Call::copy);
}
cudaError_t cudaMemsetAsync(void*, int, std::size_t, cudaStream_t) { return done(Call::copy); }

cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  bench::host::calls.records = true;
  return done(Call::other);
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t* graph) {
  bench::host::calls.records = false;
  *graph = handle<cudaGraph_t>();
  return done(Call::other);
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* made, cudaGraph_t, unsigned long long) {
  *made = handle<cudaGraphExec_t>();
  return done(Call::other);
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t, cudaGraph_t, cudaGraphExecUpdateResultInfo* result) {
  *result = {};
  return done(Call::other);
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) { return done(Call::graph); }
cudaError_t cudaGraphDestroy(cudaGraph_t) { return done(Call::other); }
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) { return done(Call::other); }

cublasStatus_t cublasLtCreate(cublasLtHandle_t* made) {
  *made = handle<cublasLtHandle_t>();
  return described();
}
std::size_t cublasLtGetVersion() { return 130'000; }
const char* cublasLtGetStatusName(cublasStatus_t) { return "CUBLAS_STATUS_SUCCESS"; }
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* made, cudaDataType_t, std::uint64_t, std::uint64_t,
                                          std::int64_t) {
  *made = handle<cublasLtMatrixLayout_t>();
  return described();
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, const void*,
                                                std::size_t) {
  return described();
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t) { return described(); }
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* made, cublasComputeType_t, cudaDataType_t) {
  *made = handle<cublasLtMatmulDesc_t>();
  return described();
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t) { return described(); }
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, const void*,
                                              std::size_t) {
  return described();
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* made) {
  *made = handle<cublasLtMatmulPreference_t>();
  return described();
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t) { return described(); }
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return described();
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t* found,
                                              int* n_found) {
  *found = {};
  *n_found = 1;
  return described();
}
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                       cublasLtMatrixLayout_t, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                       const cublasLtMatmulAlgo_t*, cublasLtMatmulHeuristicResult_t* result) {
  *result = {};
  return described();
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t, const void*, const void*, cublasLtMatrixLayout_t,
                              const void*, cublasLtMatrixLayout_t, const void*, const void*, cublasLtMatrixLayout_t,
                              void*, cublasLtMatrixLayout_t, const cublasLtMatmulAlgo_t*, void*, std::size_t,
                              cudaStream_t) {
  count(Call::product);
  return CUBLAS_STATUS_SUCCESS;
}

namespace monomorph::cuda {

/// Of cuDNN's plan, what the host's code around it sees: the workspace that is planned for, and that it runs.
struct CudnnPlan::Parts {};
CudnnPlan::CudnnPlan(const CudnnPlanKey& key)
    : workspace_bytes_(
          key.direction == Direction::backward
              ? device::cudnn_gradient_bytes({key.batch, key.tokens, key.heads, key.kv_heads, key.head_dim})
              : 0) {}
CudnnPlan::CudnnPlan(CudnnPlan&&) noexcept = default;
CudnnPlan::~CudnnPlan() = default;
void CudnnPlan::run(Queue queue, const AttentionCall&) const {
  if (workspace_bytes_ > 0) workspace(queue, workspace_bytes_);
  count(Call::attention);
}

}  // namespace monomorph::cuda
