#include "runtime/nccl/nccl_all_to_all.hpp"

#include "runtime/nccl/gpu_tensor.hpp"
#include <monomorph/runtime/cuda/kernels.hpp>

#include <c10/cuda/CUDAStream.h>

namespace monomorph::cuda {

void NcclAllToAll::begin(int slot, std::span<const View> sent, std::span<const View> received) {
  works_[slot] = nccl_->all_to_all(sent, received);
}

void NcclAllToAll::end(int slot) { nccl_->join(works_[slot]); }

void NcclAllToAll::copy(View from, View to) {
  constexpr bool non_blocking = true;
  tensor_of(to, device_).copy_(tensor_of(from, device_), non_blocking);
}

void NcclAllToAll::pairwise_sum(std::span<const View> parts, View sum, bool accumulate) {
  cuda::pairwise_sum({c10::cuda::getCurrentCUDAStream(device_).stream()}, parts, sum, accumulate);
}

}  // namespace monomorph::cuda
