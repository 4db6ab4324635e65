#pragma once
#include "runtime/nccl/nccl_group.hpp"

#include <ATen/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAStream.h>

#include <functional>

namespace monomorph::cuda {

/// Adds up words of the host over a group of ranks: copies them to the GPU, sums them there and copies them back, on a
/// stream beside compute. They are integers, so the order in which NCCL adds does not matter.
class WordSum {
 public:
  WordSum(NcclGroup& nccl, c10::DeviceIndex device);
  /// @param check is called again and again while the ranks are waited for, and may throw
  void operator()(std::span<std::int64_t> words, const std::function<void()>& check);

 private:
  void make_room(std::int64_t n);

  NcclGroup& nccl_;
  c10::cuda::CUDAStream stream_;
  at::Tensor on_host_, on_gpu_;
  at::cuda::CUDAEvent back_;
};

}  // namespace monomorph::cuda
