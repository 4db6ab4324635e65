#include <monomorph/runtime/cuda/kernels.hpp>

#include "runtime/cuda/map_elements.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <type_traits>

namespace monomorph::cuda {
namespace {

struct Identity {
  template <class S> __device__ S operator()(S x) const { return x; }
};
template <class S> struct Zero {
  __device__ S operator()() const { return 0; }
};
struct Add {
  template <class S> __device__ S operator()(S a, S b) const { return a + b; }
};

}  // namespace

void copy(Queue queue, View from, View to) {
  in_element_type(from.dtype, [&]<class From>() {
    in_element_type(to.dtype, [&]<class To>() {
      constexpr bool wide = std::is_same_v<From, double> || std::is_same_v<To, double>;
      map_elements<std::conditional_t<wide, double, float>, To, From>(queue, Identity{}, to, from);
    });
  });
}

void zero(Queue queue, View x) {
  in_element_type(x.dtype, [&]<class T>() { map_elements<Compute<T>, T>(queue, Zero<Compute<T>>{}, x); });
}

void add(Queue queue, View x, View y) {
  in_element_type(x.dtype, [&]<class X>() {
    in_element_type(y.dtype, [&]<class Y>() { map_elements<Compute<Y>, Y, Y, X>(queue, Add{}, y, y, x); });
  });
}

}  // namespace monomorph::cuda
