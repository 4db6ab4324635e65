#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/experts/pair_rows.hpp"
#include "runtime/cuda/launch/map_elements.hpp"
#include "runtime/cuda/layers/activation_functions.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <type_traits>

namespace monomorph::cuda {
namespace {

template <class Slope> struct TimesSlope {
  template <class S> __device__ S operator()(S at, S incoming) const { return incoming * Slope{}(at); }
};

/// What belongs to a gate and what belongs to up lie side by side in rows. A kernel gets the two as views of their own,
/// or nvcc, which does not see how far apart they are, would write element by element.
template <class T> struct GateAndUp {
  T *gate, *up;
  std::int64_t stride;
};
template <class T> GateAndUp<T> gate_and_up(const View& x, std::int64_t features) {
  return {x.as<T>(), x.as<T>() + features, x.stride};
}

template <class Gradients, int width, class T>
__device__ void gate_backward_pack(const T* gate, const T* up, const T* dy, T* dgate, T* dup) {
  using S = Compute<T>;
  const auto g = read_pack<S, width>(gate), u = read_pack<S, width>(up), d = read_pack<S, width>(dy);
  Pack<S, width> of_gate, of_up;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) {
    const GateGradients<S> of = Gradients{}(g.at[i], u.at[i], d.at[i]);
    of_gate.at[i] = of.gate;
    of_up.at[i] = of.up;
  }
  write_pack(of_gate, dgate);
  write_pack(of_up, dup);
}

/// The gradient may take its input's place: what a thread overwrites, it alone has read.
template <class Gradients, int width, class T>
__global__ void __launch_bounds__(map_threads)
    gate_backward_rows(Extent extent, GateAndUp<const T> x, Rows<const T> dy, GateAndUp<T> dx) {
  each_place<width>(extent, [&](std::int64_t row, std::int64_t col) {
    const std::int64_t from = row * x.stride + col, to = row * dx.stride + col;
    gate_backward_pack<Gradients, width>(x.gate + from, x.up + from, dy.data + row * dy.stride + col, dx.gate + to,
                                         dx.up + to);
  });
}

template <Activation activation>
void gate_backward(Queue queue, const View& gate_up, const View& dy, const View& dgate_up, const std::int32_t* rows) {
  if (!dy.present()) return;
  const Extent extent{dy.shape.rows, dy.shape.cols, rows};
  in_element_type(dy.dtype, [&]<class T>() {
    const auto start = [&]<int width>() {
      launch(gate_backward_rows<GradientsOf<activation, T>, width, T>, shape_of(extent, width), queue, extent,
             gate_and_up<const T>(gate_up, extent.cols), Rows<const T>{dy.as<const T>(), dy.stride},
             gate_and_up<T>(dgate_up, extent.cols));
    };
    // In fp64 the slope of the exact GELU takes too many registers for two numbers at once.
    constexpr int width = std::is_same_v<T, double> ? 1 : pack_width<T>();
    const bool packed =
        extent.cols % width == 0 && rows_start_access(gate_up) && rows_start_access(dy) && rows_start_access(dgate_up);
    if (packed)
      start.template operator()<width>();
    else
      start.template operator()<1>();
  });
}

/// @param rows null, or where the GPU has how many of the first rows are meant
template <Activation activation>
void map_activation(Queue queue, const View& h, const View& y, const std::int32_t* rows = nullptr) {
  const std::int64_t features = y.shape.cols;
  in_element_type(y.dtype, [&]<class T>() {
    using F = FunctionOf<activation, T>;
    if constexpr (is_gated(activation))
      map_rows<Compute<T>, T, T, T>(queue, rows, F{}, y, h.columns(0, features), h.columns(features, features));
    else
      map_rows<Compute<T>, T, T>(queue, rows, F{}, y, h);
  });
}

template <Activation activation>
void map_activation_backward(Queue queue, const View& h, const View& dy, const View& dh,
                             const std::int32_t* rows = nullptr) {
  if constexpr (is_gated(activation))
    gate_backward<activation>(queue, h, dy, dh, rows);
  else
    in_element_type(dh.dtype, [&]<class T>() {
      map_rows<Compute<T>, T, T, T>(queue, rows, TimesSlope<SlopeOf<activation, T>>{}, dh, h, dy);
    });
}

}  // namespace

void gelu_exact(Queue queue, View h, View y) {
  const KernelSpan span(Work::elementwise, "gelu_exact", queue.stream);
  map_activation<Activation::gelu_exact>(queue, h, y);
}
void gelu_exact_backward(Queue queue, View h, View dy, View dh) {
  const KernelSpan span(Work::elementwise, "gelu_exact_backward", queue.stream);
  map_activation_backward<Activation::gelu_exact>(queue, h, dy, dh);
}
void gelu_tanh(Queue queue, View h, View y) {
  const KernelSpan span(Work::elementwise, "gelu_tanh", queue.stream);
  map_activation<Activation::gelu_tanh>(queue, h, y);
}
void gelu_tanh_backward(Queue queue, View h, View dy, View dh) {
  const KernelSpan span(Work::elementwise, "gelu_tanh_backward", queue.stream);
  map_activation_backward<Activation::gelu_tanh>(queue, h, dy, dh);
}
void relu_squared(Queue queue, View h, View y) {
  const KernelSpan span(Work::elementwise, "relu_squared", queue.stream);
  map_activation<Activation::relu_squared>(queue, h, y);
}
void relu_squared_backward(Queue queue, View h, View dy, View dh) {
  const KernelSpan span(Work::elementwise, "relu_squared_backward", queue.stream);
  map_activation_backward<Activation::relu_squared>(queue, h, dy, dh);
}
void swiglu(Queue queue, View gate_up, View y) {
  const KernelSpan span(Work::elementwise, "swiglu", queue.stream);
  map_activation<Activation::swiglu>(queue, gate_up, y);
}
void swiglu_backward(Queue queue, View gate_up, View dy, View dgate_up) {
  const KernelSpan span(Work::elementwise, "swiglu_backward", queue.stream);
  map_activation_backward<Activation::swiglu>(queue, gate_up, dy, dgate_up);
}
void geglu_exact(Queue queue, View gate_up, View y) {
  const KernelSpan span(Work::elementwise, "geglu_exact", queue.stream);
  map_activation<Activation::geglu_exact>(queue, gate_up, y);
}
void geglu_exact_backward(Queue queue, View gate_up, View dy, View dgate_up) {
  const KernelSpan span(Work::elementwise, "geglu_exact_backward", queue.stream);
  map_activation_backward<Activation::geglu_exact>(queue, gate_up, dy, dgate_up);
}
void geglu_tanh(Queue queue, View gate_up, View y) {
  const KernelSpan span(Work::elementwise, "geglu_tanh", queue.stream);
  map_activation<Activation::geglu_tanh>(queue, gate_up, y);
}
void geglu_tanh_backward(Queue queue, View gate_up, View dy, View dgate_up) {
  const KernelSpan span(Work::elementwise, "geglu_tanh_backward", queue.stream);
  map_activation_backward<Activation::geglu_tanh>(queue, gate_up, dy, dgate_up);
}

void activate_rows(Queue queue, Activation activation, View h, View y, const Routing& routing) {
  const KernelSpan span(Work::elementwise, "activate_rows", queue.stream);
  with_activation(activation, [&]<Activation kind>() { map_activation<kind>(queue, h, y, n_rows_of(routing)); });
}

void activate_rows_backward(Queue queue, Activation activation, View h, View dy, const Routing& routing) {
  const KernelSpan span(Work::elementwise, "activate_rows_backward", queue.stream);
  with_activation(activation, [&]<Activation kind>() {
    map_activation_backward<kind>(queue, h, dy, is_gated(kind) ? h : dy, n_rows_of(routing));
  });
}

}  // namespace monomorph::cuda
