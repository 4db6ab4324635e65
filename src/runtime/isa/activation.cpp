#include "runtime/isa/rows.hpp"
#include "runtime/isa/vector_math.hpp"
#include "runtime/kernels/activation_math.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

template <class F> void unary(const View& h, const View& y, F f) {
  in_compute_type(h.dtype, [&]<class S>() { elementwise<S>(y, f, h); });
}
template <class F> void unary_backward(const View& h, const View& dy, const View& dh, F slope) {
  in_compute_type(h.dtype, [&]<class S>() {
    elementwise<S>(
        dh, [slope](S at, S incoming) { return incoming * slope(at); }, h, dy);
  });
}

/// y = f(gate, up).
template <class F> void gated(const View& gate_up, const View& y, F f) {
  const std::int64_t features = y.shape.cols;
  in_compute_type(y.dtype, [&]<class S>() {
    elementwise<S>(y, f, gate_up.columns(0, features), gate_up.columns(features, features));
  });
}

/// @param gradients of a gate, of what it gates, and of the gradient that comes in
template <class F> void gated_backward(const View& gate_up, const View& dy, const View& dgate_up, F gradients) {
  const std::int64_t rows = dy.shape.rows, features = dy.shape.cols;
  in_compute_type(dy.dtype, [&]<class S>() {
    const std::int64_t rows_per_task = ceil_div(task_elements, features);
    parallel_for(ceil_div(rows, rows_per_task), [&](std::int64_t task) {
      Buffer<S> gate_buffer, up_buffer, dy_buffer, dgate_buffer, dup_buffer;
      const std::int64_t end = least(rows, (task + 1) * rows_per_task);
      for (std::int64_t row = task * rows_per_task; row < end; ++row) {
        for (std::int64_t column = 0; column < features; column += chunk) {
          const std::int64_t n = least(chunk, features - column);
          const std::int64_t at = row * gate_up.stride + column, to = row * dgate_up.stride + column;
          const S* gate = read(gate_up, at, n, gate_buffer.elements);
          const S* up = read(gate_up, at + features, n, up_buffer.elements);
          const S* incoming = read(dy, row * dy.stride + column, n, dy_buffer.elements);
          S* dgate = place(dgate_up, to, dgate_buffer.elements);
          S* dup = place(dgate_up, to + features, dup_buffer.elements);
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) {
            const GateGradients<S> of = gradients(gate[i], up[i], incoming[i]);
            dgate[i] = of.gate;
            dup[i] = of.up;
          }
          write(dgate, dgate_up, to, n);
          write(dup, dgate_up, to + features, n);
        }
      }
    });
  });
}

}  // namespace

void gelu_exact(View h, View y) { unary(h, y, GeluExact{}); }
void gelu_exact_backward(View h, View dy, View dh) { unary_backward(h, dy, dh, GeluExactSlope{}); }
void gelu_tanh(View h, View y) { unary(h, y, GeluTanh{}); }
void gelu_tanh_backward(View h, View dy, View dh) { unary_backward(h, dy, dh, GeluTanhSlope{}); }
void relu_squared(View h, View y) { unary(h, y, ReluSquared{}); }
void relu_squared_backward(View h, View dy, View dh) { unary_backward(h, dy, dh, ReluSquaredSlope{}); }

void swiglu(View gate_up, View y) { gated(gate_up, y, Swiglu{}); }
void swiglu_backward(View gate_up, View dy, View dgate_up) { gated_backward(gate_up, dy, dgate_up, SwigluGradients{}); }
void geglu_exact(View gate_up, View y) { gated(gate_up, y, Geglu<GeluExact>{}); }
void geglu_exact_backward(View gate_up, View dy, View dgate_up) {
  gated_backward(gate_up, dy, dgate_up, GegluExactGradients{});
}
void geglu_tanh(View gate_up, View y) { gated(gate_up, y, Geglu<GeluTanh<>>{}); }
void geglu_tanh_backward(View gate_up, View dy, View dgate_up) {
  gated_backward(gate_up, dy, dgate_up, GegluTanhGradients{});
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
