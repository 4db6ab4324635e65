#pragma once
#include <monomorph/runtime/kernels/activation.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// Pick the kernel of an Activation.
namespace monomorph {

template <Activation activation> void activate(auto queue, View h, View y) {
  if constexpr (activation == Activation::gelu_exact) gelu_exact(queue, h, y);
  if constexpr (activation == Activation::gelu_tanh) gelu_tanh(queue, h, y);
  if constexpr (activation == Activation::relu_squared) relu_squared(queue, h, y);
  if constexpr (activation == Activation::swiglu) swiglu(queue, h, y);
  if constexpr (activation == Activation::geglu_exact) geglu_exact(queue, h, y);
  if constexpr (activation == Activation::geglu_tanh) geglu_tanh(queue, h, y);
}

template <Activation activation> void activate_backward(auto queue, View h, View dy, View dh) {
  if constexpr (activation == Activation::gelu_exact) gelu_exact_backward(queue, h, dy, dh);
  if constexpr (activation == Activation::gelu_tanh) gelu_tanh_backward(queue, h, dy, dh);
  if constexpr (activation == Activation::relu_squared) relu_squared_backward(queue, h, dy, dh);
  if constexpr (activation == Activation::swiglu) swiglu_backward(queue, h, dy, dh);
  if constexpr (activation == Activation::geglu_exact) geglu_exact_backward(queue, h, dy, dh);
  if constexpr (activation == Activation::geglu_tanh) geglu_tanh_backward(queue, h, dy, dh);
}

/// Writes dh over h if the activation is gated, otherwise over dy, and returns it.
template <Activation activation> View activate_backward(auto queue, View h, View dy) {
  const View dh = is_gated(activation) ? h : dy;
  activate_backward<activation>(queue, h, dy, dh);
  return dh;
}

/// f.operator()<activation>(), of an activation that is known when the program runs.
void with_activation(Activation activation, auto&& f) {
  switch (activation) {
    case Activation::gelu_exact:
      return f.template operator()<Activation::gelu_exact>();
    case Activation::gelu_tanh:
      return f.template operator()<Activation::gelu_tanh>();
    case Activation::relu_squared:
      return f.template operator()<Activation::relu_squared>();
    case Activation::swiglu:
      return f.template operator()<Activation::swiglu>();
    case Activation::geglu_exact:
      return f.template operator()<Activation::geglu_exact>();
    case Activation::geglu_tanh:
      return f.template operator()<Activation::geglu_tanh>();
  }
}

}  // namespace monomorph
