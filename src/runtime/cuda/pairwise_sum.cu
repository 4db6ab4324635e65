#include "runtime/cuda/pairwise_sum.hpp"

#include "runtime/cuda/pairwise.hpp"

#include <monomorph/core/error.hpp>

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <string>

namespace monomorph::cuda {
namespace {

struct Terms {
  const void* data[most_terms];
  DType dtype[most_terms];
  int n;
};
static_assert(sizeof(Terms) < 32'000 && most_terms < 1 << pairwise_levels);

template <class S> __device__ S load(const void* data, DType dtype, std::int64_t i) {
  switch (dtype) {
    case DType::bf16:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
    case DType::fp16:
      return __half2float(static_cast<const __half*>(data)[i]);
    case DType::fp64:
      return static_cast<S>(static_cast<const double*>(data)[i]);
    default:
      return static_cast<const float*>(data)[i];
  }
}

template <class S> __device__ void store(S x, void* data, DType dtype, std::int64_t i) {
  switch (dtype) {
    case DType::bf16:
      static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(static_cast<float>(x));
      break;
    case DType::fp16:
      static_cast<__half*>(data)[i] = __float2half_rn(static_cast<float>(x));
      break;
    case DType::fp64:
      static_cast<double*>(data)[i] = x;
      break;
    default:
      static_cast<float*>(data)[i] = static_cast<float>(x);
  }
}

template <class S>
__global__ void add_up(const __grid_constant__ Terms terms, void* sum, DType dtype, std::int64_t n, bool accumulate) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const S total =
        pairwise_total<S>(terms.n, [&](int term) { return load<S>(terms.data[term], terms.dtype[term], i); });
    store(accumulate ? load<S>(sum, dtype, i) + total : total, sum, dtype, i);
  }
}

template <class S> void start(const Terms& terms, View sum, bool accumulate, cudaStream_t stream) {
  constexpr int threads = 256;
  constexpr std::int64_t most_blocks = 4096;
  const auto blocks = static_cast<unsigned>(std::min((sum.elements() + threads - 1) / threads, most_blocks));
  add_up<S><<<blocks, threads, 0, stream>>>(terms, sum.data, sum.dtype, sum.elements(), accumulate);
}

}  // namespace

void pairwise_sum(std::span<const View> parts, View sum, bool accumulate, CUstream_st* stream) {
  Terms terms;
  terms.n = static_cast<int>(parts.size());
  for (int i = 0; i < terms.n; ++i) {
    terms.data[i] = parts[i].data;
    terms.dtype[i] = parts[i].dtype;
  }
  (sum.dtype == DType::fp64 ? start<double> : start<float>)(terms, sum, accumulate, stream);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw Error("KERNEL-05", std::string("the GPU does not start the sum of gradients (") + cudaGetErrorString(status) +
                                 "); see the driver's messages on that machine");
}

}  // namespace monomorph::cuda
