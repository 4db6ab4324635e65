#pragma once
#include "runtime/nccl/gpu_tensor.hpp"
#include <monomorph/runtime/cuda/kernels.hpp>
#include "support/tensors.hpp"

#include <monomorph/runtime/kernels/pairwise_sum.hpp>

#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAStream.h>

// The same buffer in the machine's memory and in that of the thread's GPU, for tests that compare them.
namespace monomorph::testing {

class HostBuffer {
 public:
  HostBuffer(const Values& values, DType dtype) : bytes_(values.size() * size_of(dtype)), dtype_(dtype) {
    assign(view(), values);
  }
  View view() { return {bytes_.data(), dtype_, {1, std::ssize(bytes_) / size_of(dtype_)}}; }
  Values values() { return values_of(view()); }
  static void add_up(std::span<const View> parts, View sum) { cpu::pairwise_sum(cpu::Queue{}, parts, sum, true); }

 private:
  std::vector<std::byte> bytes_;
  DType dtype_;
};

class GpuBuffer {
 public:
  GpuBuffer(const Values& values, DType dtype) : host_(values, dtype), on_gpu_(host_bytes().to(at::kCUDA)) {}
  View view() {
    const View like = host_.view();
    return {static_cast<std::byte*>(on_gpu_.data_ptr()), like.dtype, like.shape};
  }
  Values values() {
    host_bytes().copy_(on_gpu_);
    return host_.values();
  }
  static void add_up(std::span<const View> parts, View sum) {
    cuda::pairwise_sum({c10::cuda::getCurrentCUDAStream().stream()}, parts, sum, true);
  }

 private:
  at::Tensor host_bytes() { return at::from_blob(host_.view().data, {host_.view().bytes()}, at::kByte); }

  HostBuffer host_;
  at::Tensor on_gpu_;
};

}  // namespace monomorph::testing
