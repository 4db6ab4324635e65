#include "runtime/cuda/fp8/round_activation.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/activate.hpp>

#include "runtime/cuda/fp8/round_tiles.hpp"
#include "runtime/cuda/layers/activation_functions.hpp"
#include "runtime/kernels/elements.hpp"

/// Activations and their gradients, rounded to fp8 by the kernel that makes them. Each element is rounded to bf16
/// first, so that it and the maximum have the bits that they have where it is stored as bf16 and rounded by another
/// kernel.
namespace monomorph::cuda {
namespace {

/// A matrix of elements, of which a gate's are the first half of a row.
struct StoredRows {
  BFloat16* data;
  std::int64_t stride;

  explicit StoredRows(const View& view) : data(view.as<BFloat16>()), stride(view.stride) {}
  __device__ Pack<float, half_width> read(std::int64_t row, std::int64_t col) const {
    return read_pack<float, half_width>(data + row * stride + col);
  }
  __device__ void write(std::int64_t row, std::int64_t col, const MadeElements& made) const {
    write_global_pack(made, data + row * stride + col);
  }
};

template <class F> struct Activated {
  static constexpr int matrices = 1;
  StoredRows h;
  __device__ void operator()(std::int64_t row, std::int64_t col, MadeElements (&made)[1]) const {
    const auto x = h.read(row, col);
    MONOMORPH_UNROLL
    for (int i = 0; i < half_width; ++i) narrow(F{}(x.at[i]), made[0].at[i]);
  }
};
template <class F> struct Gated {
  static constexpr int matrices = 1;
  StoredRows h;
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
  StoredRows h, dy, dh;
  __device__ void operator()(std::int64_t row, std::int64_t col, MadeElements (&made)[1]) const {
    const auto at = h.read(row, col), incoming = dy.read(row, col);
    MONOMORPH_UNROLL
    for (int i = 0; i < half_width; ++i) narrow(incoming.at[i] * Slope{}(at.at[i]), made[0].at[i]);
    if (dh.data != nullptr) dh.write(row, col, made[0]);
  }
};
template <class Gradients> struct GateGradient {
  static constexpr int matrices = 2;
  StoredRows h, dy, dh;
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

}  // namespace

void round_activation(Queue queue, Activation activation, View h, const float* scale, const RoundedTo& to,
                      std::int64_t* maximum) {
  const auto [rows, cols] = to.as_it_is_RC.shape;
  const Destination<E4M3> destination{to.as_it_is_RC.as<E4M3>(), to.transposed_CR.as<E4M3>()};
  with_activation(activation, [&, rows = rows, cols = cols]<Activation kind>() {
    using F = FunctionOf<kind, BFloat16>;
    if constexpr (is_gated(kind))
      round_made(queue, Gated<F>{StoredRows(h), cols}, rows, cols, scale, destination, maximum);
    else
      round_made(queue, Activated<F>{StoredRows(h)}, rows, cols, scale, destination, maximum);
  });
}

void round_activation_gradient(Queue queue, Activation activation, View h, View dy, View dh, const float* scale,
                               const RoundedTo& to, std::int64_t* maximum) {
  const auto [rows, cols] = dy.shape;
  const StoredRows at(h), incoming(dy), stored(dh);
  const Destination<E5M2> destination{to.as_it_is_RC.as<E5M2>(), to.transposed_CR.as<E5M2>()};
  with_activation(activation, [&, rows = rows, cols = cols]<Activation kind>() {
    if constexpr (is_gated(kind))
      round_made(queue, GateGradient<GradientsOf<kind, BFloat16>>{at, incoming, stored, cols}, rows, cols, scale,
                 destination, maximum);
    else
      round_made(queue, ActivationGradient<SlopeOf<kind, BFloat16>>{at, incoming, stored}, rows, cols, scale,
                 destination, maximum);
  });
}

}  // namespace monomorph::cuda
