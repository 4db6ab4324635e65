#include "runtime/cuda/products/round_activation.hpp"

#include "runtime/cuda/layers/activation_functions.hpp"
#include "runtime/cuda/products/round_tiles.hpp"
#include "runtime/kernels/elements.hpp"

/// Activations and their gradients, rounded to fp8 by the kernel that makes them. Each element is rounded to bf16
/// first, so that it and the maximum have the bits that they have where it is stored as bf16 and rounded by another
/// kernel.
namespace monomorph::cuda {
namespace {

using T = BFloat16;

/// A matrix of elements, of which a gate's are the first half of a row.
struct Elements {
  T* data;
  std::int64_t stride;

  explicit Elements(const View& view) : data(view.as<T>()), stride(view.stride) {}
  __device__ Pack<float, half_width> read(std::int64_t row, std::int64_t col) const {
    return read_pack<float, half_width>(data + row * stride + col);
  }
  __device__ void write(std::int64_t row, std::int64_t col, const MadeElements& made) const {
    write_global_pack(made, data + row * stride + col);
  }
};

template <class F> struct Activated {
  static constexpr int matrices = 1;
  Elements h;
  __device__ void operator()(std::int64_t row, std::int64_t col, MadeElements (&made)[1]) const {
    const auto x = h.read(row, col);
    MONOMORPH_UNROLL
    for (int i = 0; i < half_width; ++i) narrow(F{}(x.at[i]), made[0].at[i]);
  }
};
template <class F> struct Gated {
  static constexpr int matrices = 1;
  Elements h;
  std::int64_t features;
  __device__ void operator()(std::int64_t row, std::int64_t col, MadeElements (&made)[1]) const {
    const auto gate = h.read(row, col), up = h.read(row, features + col);
    MONOMORPH_UNROLL
    for (int i = 0; i < half_width; ++i) narrow(F{}(gate.at[i], up.at[i]), made[0].at[i]);
  }
};

// What a thread makes may take the place of what it alone has read.

template <class Slope> struct ActivationGradient {
  static constexpr int matrices = 1;
  Elements h, dy, dh;
  __device__ void operator()(std::int64_t row, std::int64_t col, MadeElements (&made)[1]) const {
    const auto at = h.read(row, col), incoming = dy.read(row, col);
    MONOMORPH_UNROLL
    for (int i = 0; i < half_width; ++i) narrow(incoming.at[i] * Slope{}(at.at[i]), made[0].at[i]);
    if (dh.data != nullptr) dh.write(row, col, made[0]);
  }
};
template <class Gradients> struct GateGradient {
  static constexpr int matrices = 2;
  Elements h, dy, dh;
  std::int64_t features;
  __device__ void operator()(std::int64_t row, std::int64_t col, MadeElements (&made)[2]) const {
    const auto gate = h.read(row, col), up = h.read(row, features + col), incoming = dy.read(row, col);
    MONOMORPH_UNROLL
    for (int i = 0; i < half_width; ++i) {
      const GateGradients<float> of = Gradients{}(gate.at[i], up.at[i], incoming.at[i]);
      narrow(of.gate, made[0].at[i]);
      narrow(of.up, made[1].at[i]);
    }
    if (dh.data == nullptr) return;
    dh.write(row, col, made[0]);
    dh.write(row, features + col, made[1]);
  }
};

/// f(maker), of the activation.
void with_activated(Activation activation, const View& h, std::int64_t features, auto&& f) {
  const Elements of(h);
  switch (activation) {
    case Activation::gelu_exact:
      return f(Activated<GeluExactOf<T>>{of});
    case Activation::gelu_tanh:
      return f(Activated<GeluTanhOf<T>>{of});
    case Activation::relu_squared:
      return f(Activated<ReluSquaredOf<T>>{of});
    case Activation::swiglu:
      return f(Gated<SwigluOf<T>>{of, features});
    case Activation::geglu_exact:
      return f(Gated<GegluExactOf<T>>{of, features});
    case Activation::geglu_tanh:
      return f(Gated<GegluTanhOf<T>>{of, features});
  }
}
void with_gradient(Activation activation, const View& h, const View& dy, const View& dh, auto&& f) {
  const Elements of(h), incoming(dy), stored(dh);
  const std::int64_t features = dy.shape.cols;
  switch (activation) {
    case Activation::gelu_exact:
      return f(ActivationGradient<GeluExactSlopeOf<T>>{of, incoming, stored});
    case Activation::gelu_tanh:
      return f(ActivationGradient<GeluTanhSlopeOf<T>>{of, incoming, stored});
    case Activation::relu_squared:
      return f(ActivationGradient<ReluSquaredSlopeOf<T>>{of, incoming, stored});
    case Activation::swiglu:
      return f(GateGradient<SwigluGradientsOf<T>>{of, incoming, stored, features});
    case Activation::geglu_exact:
      return f(GateGradient<GegluExactGradientsOf<T>>{of, incoming, stored, features});
    case Activation::geglu_tanh:
      return f(GateGradient<GegluTanhGradientsOf<T>>{of, incoming, stored, features});
  }
}

}  // namespace

void round_activation(Queue queue, Activation activation, View h, const float* scale, const RoundedTo& to,
                      std::int64_t* maximum) {
  const auto [rows, cols] = to.as_it_is_RC.shape;
  with_activated(activation, h, cols, [&](const auto& maker) {
    round_made(queue, maker, rows, cols, scale,
               Destination<E4M3>{to.as_it_is_RC.as<E4M3>(), to.transposed_CR.as<E4M3>()}, maximum);
  });
}

void round_activation_gradient(Queue queue, Activation activation, View h, View dy, View dh, const float* scale,
                               const RoundedTo& to, std::int64_t* maximum) {
  with_gradient(activation, h, dy, dh, [&](const auto& maker) {
    round_made(queue, maker, dy.shape.rows, dy.shape.cols, scale,
               Destination<E5M2>{to.as_it_is_RC.as<E5M2>(), to.transposed_CR.as<E5M2>()}, maximum);
  });
}

}  // namespace monomorph::cuda
