#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/from_blob.h>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::cuda {

/// A contiguous view as LibTorch sees it; one that is not present has no elements.
inline at::Tensor tensor_of(const View& view, at::ScalarType type, c10::DeviceIndex device) {
  const at::Device gpu(at::kCUDA, device);
  return at::for_blob(view.data, {view.elements()})
      .options(at::device(gpu).dtype(type))
      .target_device(gpu)
      .make_tensor();
}

inline at::ScalarType scalar_type(DType dtype) {
  constexpr at::ScalarType types[] = {at::kFloat, at::kBFloat16, at::kDouble, at::kHalf};
  return types[static_cast<int>(dtype)];
}

inline at::Tensor tensor_of(const View& view, c10::DeviceIndex device) {
  return tensor_of(view, scalar_type(view.dtype), device);
}

}  // namespace monomorph::cuda
