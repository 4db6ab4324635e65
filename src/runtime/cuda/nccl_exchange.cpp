#include "runtime/cuda/nccl_exchange.hpp"

#include "runtime/cuda/gpu_tensor.hpp"
#include "runtime/cuda/pairwise_sum.hpp"

#include <c10/cuda/CUDAStream.h>

namespace monomorph::cuda {

void NcclExchange::begin(int slot, std::span<const View> sent, std::span<const View> received) {
  works_[slot] = nccl_->exchange(sent, received);
}

void NcclExchange::end(int slot) { nccl_->join(works_[slot]); }

void NcclExchange::copy(View from, View to) {
  constexpr bool non_blocking = true;
  tensor_of(to, device_).copy_(tensor_of(from, device_), non_blocking);
}

void NcclExchange::pairwise_sum(std::span<const View> parts, View sum, bool accumulate) {
  cuda::pairwise_sum(parts, sum, accumulate, c10::cuda::getCurrentCUDAStream(device_).stream());
}

}  // namespace monomorph::cuda
