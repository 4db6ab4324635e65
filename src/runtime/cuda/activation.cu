#include <monomorph/runtime/cuda/kernels.hpp>

#include "runtime/cuda/map_elements.hpp"
#include "runtime/kernels/activation_math.hpp"
#include "runtime/kernels/dtypes.hpp"

namespace monomorph::cuda {
namespace {

template <class Slope> struct TimesSlope {
  template <class S> __device__ S operator()(S at, S incoming) const { return incoming * Slope{}(at); }
};

}  // namespace

void relu_squared(Queue queue, View h, View y) {
  in_element_type(y.dtype, [&]<class T>() { map_elements<Compute<T>, T, T>(queue, ReluSquared{}, y, h); });
}
void relu_squared_backward(Queue queue, View h, View dy, View dh) {
  in_element_type(dh.dtype, [&]<class T>() {
    map_elements<Compute<T>, T, T, T>(queue, TimesSlope<ReluSquaredSlope>{}, dh, h, dy);
  });
}

}  // namespace monomorph::cuda
