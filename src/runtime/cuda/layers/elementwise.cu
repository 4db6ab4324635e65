#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/soft_cap_math.hpp"

#include <type_traits>

namespace monomorph::cuda {
namespace {

struct Identity {
  template <class S> __device__ S operator()(S x) const { return x; }
};
template <class S> struct Constant {
  S value;
  __device__ S operator()() const { return value; }
};
struct Add {
  template <class S> __device__ S operator()(S a, S b) const { return a + b; }
};
template <class S> struct Scale {
  S a;
  __device__ S operator()(S x) const { return a * x; }
};
template <class S> struct ScaleAndAdd {
  S a, b;
  __device__ S operator()(S x, S y) const { return a * x + b * y; }
};

}  // namespace

void copy(Queue queue, View from, View to) {
  const KernelSpan span(Work::elementwise, "copy", queue.stream);
  in_element_type(from.dtype, [&]<class From>() {
    in_element_type(to.dtype, [&]<class To>() {
      constexpr bool wide = std::is_same_v<From, double> || std::is_same_v<To, double>;
      map_elements<std::conditional_t<wide, double, float>, To, From>(queue, Identity{}, to, from);
    });
  });
}

void zero(Queue queue, View x) {
  const KernelSpan span(Work::elementwise, "zero", queue.stream);
  fill(queue, x, 0);
}

void fill(Queue queue, View x, double value) {
  const KernelSpan span(Work::elementwise, "fill", queue.stream);
  in_element_type(x.dtype, [&]<class T>() {
    using S = Compute<T>;
    map_elements<S, T>(queue, Constant<S>{static_cast<S>(value)}, x);
  });
}

void add(Queue queue, View x, View y) {
  const KernelSpan span(Work::elementwise, "add", queue.stream);
  in_element_type(x.dtype, [&]<class X>() {
    in_element_type(y.dtype, [&]<class Y>() { map_elements<Compute<Y>, Y, Y, X>(queue, Add{}, y, y, x); });
  });
}

void scale(Queue queue, View x, double a, View y) {
  const KernelSpan span(Work::elementwise, "scale", queue.stream);
  in_element_type(x.dtype, [&]<class X>() {
    in_element_type(y.dtype, [&]<class Y>() {
      using S = Compute<Y>;
      map_elements<S, Y, X>(queue, Scale<S>{static_cast<S>(a)}, y, x);
    });
  });
}

void scale_and_add(Queue queue, View x, double a, View y, double b) {
  const KernelSpan span(Work::elementwise, "scale_and_add", queue.stream);
  in_element_type(x.dtype, [&]<class X>() {
    in_element_type(y.dtype, [&]<class Y>() {
      using S = Compute<Y>;
      map_elements<S, Y, X, Y>(queue, ScaleAndAdd<S>{static_cast<S>(a), static_cast<S>(b)}, y, x, y);
    });
  });
}

void soft_cap(Queue queue, View x, double cap, View y) {
  const KernelSpan span(Work::elementwise, "soft_cap", queue.stream);
  in_element_type(y.dtype, [&]<class T>() {
    using S = Compute<T>;
    map_elements<S, T, T>(queue, SoftCap<S>(cap), y, x);
  });
}

void soft_cap_backward(Queue queue, View y, View dy, double cap, View dx) {
  const KernelSpan span(Work::elementwise, "soft_cap_backward", queue.stream);
  in_element_type(y.dtype, [&]<class Y>() {
    in_element_type(dx.dtype, [&]<class T>() {
      using S = Compute<T>;
      map_elements<S, T, Y, T>(queue, SoftCapGradient<S>(cap), dx, y, dy);
    });
  });
}

}  // namespace monomorph::cuda
