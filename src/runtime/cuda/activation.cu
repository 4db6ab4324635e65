#include <monomorph/runtime/cuda/kernels.hpp>

#include "runtime/cuda/map_elements.hpp"
#include "runtime/kernels/activation_math.hpp"
#include "runtime/kernels/dtypes.hpp"

#include <type_traits>

namespace monomorph::cuda {
namespace {

/// Of elements of 16 bits, by the GPU's own approximations: with the polynomials that the CPU shares, these kernels
/// would wait for arithmetic and not for memory. Its relative error of about 1e-6 is far below theirs.
struct CoarseSigmoid {
  __device__ float operator()(float x) const {
#ifdef __CUDA_ARCH__
    return __fdividef(1.0f, 1.0f + __expf(-x));
#else
    return sigmoid(x);
#endif
  }
};
template <class T> using SigmoidFor = std::conditional_t<sizeof(T) == 2, CoarseSigmoid, ExactSigmoid>;

template <class Slope> struct TimesSlope {
  template <class S> __device__ S operator()(S at, S incoming) const { return incoming * Slope{}(at); }
};

template <class F> void activate(Queue queue, const View& h, const View& y) {
  in_element_type(y.dtype, [&]<class T>() { map_elements<Compute<T>, T, T>(queue, F{}, y, h); });
}
template <class Slope> void activate_backward(Queue queue, const View& h, const View& dy, const View& dh) {
  in_element_type(dh.dtype,
                  [&]<class T>() { map_elements<Compute<T>, T, T, T>(queue, TimesSlope<Slope>{}, dh, h, dy); });
}

/// Rows of a gate's features and as many of up, and where in them up begins.
template <class T> struct GateUp {
  Rows<T> rows;
  std::int64_t features;
};

template <class S, int width, class T>
__device__ void swiglu_backward_pack(const T* gate_up, const T* dy, T* dgate_up, std::int64_t features) {
  const auto gate = read_pack<S, width>(gate_up), up = read_pack<S, width>(gate_up + features);
  const auto incoming = read_pack<S, width>(dy);
  Pack<S, width> dgate, dup;
  MONOMORPH_UNROLL
  for (int i = 0; i < width; ++i) {
    const S g = gate.at[i], u = up.at[i], d = incoming.at[i], s = SigmoidFor<T>{}(g);
    dgate.at[i] = d * u * (s + g * s * (S(1) - s));
    dup.at[i] = d * g * s;
  }
  write_pack(dgate, dgate_up);
  write_pack(dup, dgate_up + features);
}

/// dgate_up may be gate_up: what a thread overwrites, it alone has read.
template <int width, class T>
__global__ void __launch_bounds__(map_threads)
    swiglu_backward_rows(std::int64_t rows, GateUp<const T> gate_up, Rows<const T> dy, Rows<T> dgate_up) {
  using S = Compute<T>;
  const std::int64_t features = gate_up.features;
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) * width;
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x * width;
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.y) * blockDim.y + threadIdx.y;
  for (std::int64_t row = first_row; row < rows; row += static_cast<std::int64_t>(gridDim.y) * blockDim.y)
    for (std::int64_t col = first; col < features; col += step)
      swiglu_backward_pack<S, width>(gate_up.rows.data + row * gate_up.rows.stride + col,
                                     dy.data + row * dy.stride + col, dgate_up.data + row * dgate_up.stride + col,
                                     features);
}

}  // namespace

void gelu_exact(Queue queue, View h, View y) { activate<GeluExact>(queue, h, y); }
void gelu_exact_backward(Queue queue, View h, View dy, View dh) { activate_backward<GeluExactSlope>(queue, h, dy, dh); }
void gelu_tanh(Queue queue, View h, View y) {
  in_element_type(y.dtype, [&]<class T>() { map_elements<Compute<T>, T, T>(queue, GeluTanh<SigmoidFor<T>>{}, y, h); });
}
void gelu_tanh_backward(Queue queue, View h, View dy, View dh) {
  in_element_type(dh.dtype, [&]<class T>() {
    map_elements<Compute<T>, T, T, T>(queue, TimesSlope<GeluTanhSlope<SigmoidFor<T>>>{}, dh, h, dy);
  });
}
void relu_squared(Queue queue, View h, View y) { activate<ReluSquared>(queue, h, y); }
void relu_squared_backward(Queue queue, View h, View dy, View dh) {
  activate_backward<ReluSquaredSlope>(queue, h, dy, dh);
}

void swiglu(Queue queue, View gate_up, View y) {
  const std::int64_t features = y.shape.cols;
  in_element_type(y.dtype, [&]<class T>() {
    map_elements<Compute<T>, T, T, T>(queue, Swiglu<SigmoidFor<T>>{}, y, gate_up.columns(0, features),
                                      gate_up.columns(features, features));
  });
}

void swiglu_backward(Queue queue, View gate_up, View dy, View dgate_up) {
  if (!dy.present()) return;
  const Extent extent{dy.shape.rows, dy.shape.cols};
  in_element_type(dy.dtype, [&]<class T>() {
    const auto start = [&]<int width>() {
      launch(swiglu_backward_rows<width, T>, shape_of(extent, width), queue, extent.rows,
             GateUp<const T>{{gate_up.as<const T>(), gate_up.stride}, extent.cols},
             Rows<const T>{dy.as<const T>(), dy.stride}, Rows<T>{dgate_up.as<T>(), dgate_up.stride});
    };
    constexpr int width = pack_width<T>();
    const bool packed =
        extent.cols % width == 0 && rows_start_access(gate_up) && rows_start_access(dy) && rows_start_access(dgate_up);
    if (packed)
      start.template operator()<width>();
    else
      start.template operator()<1>();
  });
}

}  // namespace monomorph::cuda
