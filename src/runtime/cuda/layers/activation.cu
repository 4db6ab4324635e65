#include <monomorph/runtime/cuda/kernels.hpp>
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

// Those of the first rows alone take how many these are, on the GPU; null stands for all.

template <template <class T> class F>
void activate(Queue queue, const View& h, const View& y, const std::int32_t* rows) {
  in_element_type(y.dtype, [&]<class T>() { map_rows<Compute<T>, T, T>(queue, rows, F<T>{}, y, h); });
}
template <template <class T> class Slope>
void activate_backward(Queue queue, const View& h, const View& dy, const View& dh, const std::int32_t* rows) {
  in_element_type(dh.dtype,
                  [&]<class T>() { map_rows<Compute<T>, T, T, T>(queue, rows, TimesSlope<Slope<T>>{}, dh, h, dy); });
}

/// What belongs to a gate and what belongs to up lie side by side in rows. A kernel gets the two as views of their own,
/// or nvcc, which does not see how far apart they are, would write element by element.
template <class T> struct GateAndUp {
  T *gate, *up;
  std::int64_t stride;
};
template <class T> GateAndUp<T> gate_and_up(const View& x, std::int64_t features) {
  return {x.as<T>(), x.as<T>() + features, x.stride};
}

template <template <class T> class Gradients, int width, class T>
__device__ void gate_backward_pack(const T* gate, const T* up, const T* dy, T* dgate, T* dup) {
  using S = Compute<T>;
  const auto g = read_pack<S, width>(gate), u = read_pack<S, width>(up), d = read_pack<S, width>(dy);
  Pack<S, width> of_gate, of_up;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) {
    const GateGradients<S> of = Gradients<T>{}(g.at[i], u.at[i], d.at[i]);
    of_gate.at[i] = of.gate;
    of_up.at[i] = of.up;
  }
  write_pack(of_gate, dgate);
  write_pack(of_up, dup);
}

/// The gradient may take its input's place: what a thread overwrites, it alone has read.
template <template <class T> class Gradients, int width, class T>
__global__ void __launch_bounds__(map_threads)
    gate_backward_rows(Extent extent, GateAndUp<const T> x, Rows<const T> dy, GateAndUp<T> dx) {
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * width;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  const std::int64_t rows = extent.rows_there();
  for (std::int64_t row = first_row; row < rows; row += static_cast<std::int64_t>(gridDim.y) * blockDim.y)
    for (std::int64_t col = first; col < extent.cols; col += step) {
      const std::int64_t from = row * x.stride + col, to = row * dx.stride + col;
      gate_backward_pack<Gradients, width>(x.gate + from, x.up + from, dy.data + row * dy.stride + col, dx.gate + to,
                                           dx.up + to);
    }
}

template <template <class T> class F>
void gate(Queue queue, const View& gate_up, const View& y, const std::int32_t* rows) {
  const std::int64_t features = y.shape.cols;
  in_element_type(y.dtype, [&]<class T>() {
    map_rows<Compute<T>, T, T, T>(queue, rows, F<T>{}, y, gate_up.columns(0, features),
                                  gate_up.columns(features, features));
  });
}

template <template <class T> class Gradients>
void gate_backward(Queue queue, const View& gate_up, const View& dy, const View& dgate_up, const std::int32_t* rows) {
  if (!dy.present()) return;
  const Extent extent{dy.shape.rows, dy.shape.cols, rows};
  in_element_type(dy.dtype, [&]<class T>() {
    const auto start = [&]<int width>() {
      launch(gate_backward_rows<Gradients, width, T>, shape_of(extent, width), queue, extent,
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

}  // namespace

void gelu_exact(Queue queue, View h, View y) {
  const KernelSpan span(Work::elementwise, "gelu_exact", queue.stream);
  activate<GeluExactOf>(queue, h, y, nullptr);
}
void gelu_exact_backward(Queue queue, View h, View dy, View dh) {
  const KernelSpan span(Work::elementwise, "gelu_exact_backward", queue.stream);
  activate_backward<GeluExactSlopeOf>(queue, h, dy, dh, nullptr);
}
void gelu_tanh(Queue queue, View h, View y) {
  const KernelSpan span(Work::elementwise, "gelu_tanh", queue.stream);
  activate<GeluTanhOf>(queue, h, y, nullptr);
}
void gelu_tanh_backward(Queue queue, View h, View dy, View dh) {
  const KernelSpan span(Work::elementwise, "gelu_tanh_backward", queue.stream);
  activate_backward<GeluTanhSlopeOf>(queue, h, dy, dh, nullptr);
}
void relu_squared(Queue queue, View h, View y) {
  const KernelSpan span(Work::elementwise, "relu_squared", queue.stream);
  activate<ReluSquaredOf>(queue, h, y, nullptr);
}
void relu_squared_backward(Queue queue, View h, View dy, View dh) {
  const KernelSpan span(Work::elementwise, "relu_squared_backward", queue.stream);
  activate_backward<ReluSquaredSlopeOf>(queue, h, dy, dh, nullptr);
}
void swiglu(Queue queue, View gate_up, View y) {
  const KernelSpan span(Work::elementwise, "swiglu", queue.stream);
  gate<SwigluOf>(queue, gate_up, y, nullptr);
}
void swiglu_backward(Queue queue, View gate_up, View dy, View dgate_up) {
  const KernelSpan span(Work::elementwise, "swiglu_backward", queue.stream);
  gate_backward<SwigluGradientsOf>(queue, gate_up, dy, dgate_up, nullptr);
}
void geglu_exact(Queue queue, View gate_up, View y) {
  const KernelSpan span(Work::elementwise, "geglu_exact", queue.stream);
  gate<GegluExactOf>(queue, gate_up, y, nullptr);
}
void geglu_exact_backward(Queue queue, View gate_up, View dy, View dgate_up) {
  const KernelSpan span(Work::elementwise, "geglu_exact_backward", queue.stream);
  gate_backward<GegluExactGradientsOf>(queue, gate_up, dy, dgate_up, nullptr);
}
void geglu_tanh(Queue queue, View gate_up, View y) {
  const KernelSpan span(Work::elementwise, "geglu_tanh", queue.stream);
  gate<GegluTanhOf>(queue, gate_up, y, nullptr);
}
void geglu_tanh_backward(Queue queue, View gate_up, View dy, View dgate_up) {
  const KernelSpan span(Work::elementwise, "geglu_tanh_backward", queue.stream);
  gate_backward<GegluTanhGradientsOf>(queue, gate_up, dy, dgate_up, nullptr);
}

void activate_rows(Queue queue, Activation activation, View h, View y, const Routing& routing) {
  const KernelSpan span(Work::elementwise, "activate_rows", queue.stream);
  const std::int32_t* const rows = n_rows_of(routing);
  switch (activation) {
    case Activation::gelu_exact:
      return activate<GeluExactOf>(queue, h, y, rows);
    case Activation::gelu_tanh:
      return activate<GeluTanhOf>(queue, h, y, rows);
    case Activation::relu_squared:
      return activate<ReluSquaredOf>(queue, h, y, rows);
    case Activation::swiglu:
      return gate<SwigluOf>(queue, h, y, rows);
    case Activation::geglu_exact:
      return gate<GegluExactOf>(queue, h, y, rows);
    case Activation::geglu_tanh:
      return gate<GegluTanhOf>(queue, h, y, rows);
  }
}

void activate_rows_backward(Queue queue, Activation activation, View h, View dy, const Routing& routing) {
  const KernelSpan span(Work::elementwise, "activate_rows_backward", queue.stream);
  const std::int32_t* const rows = n_rows_of(routing);
  switch (activation) {
    case Activation::gelu_exact:
      return activate_backward<GeluExactSlopeOf>(queue, h, dy, dy, rows);
    case Activation::gelu_tanh:
      return activate_backward<GeluTanhSlopeOf>(queue, h, dy, dy, rows);
    case Activation::relu_squared:
      return activate_backward<ReluSquaredSlopeOf>(queue, h, dy, dy, rows);
    case Activation::swiglu:
      return gate_backward<SwigluGradientsOf>(queue, h, dy, h, rows);
    case Activation::geglu_exact:
      return gate_backward<GegluExactGradientsOf>(queue, h, dy, h, rows);
    case Activation::geglu_tanh:
      return gate_backward<GegluTanhGradientsOf>(queue, h, dy, h, rows);
  }
}

}  // namespace monomorph::cuda
