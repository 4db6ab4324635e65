#pragma once
#include <monomorph/runtime/kernels/activation.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// Picks the kernel of an Activation.
namespace monomorph {

template <Activation activation> void activate(auto queue, View h, View y) {
  if constexpr (activation == Activation::gelu_exact) gelu_exact(queue, h, y);
  if constexpr (activation == Activation::gelu_tanh) gelu_tanh(queue, h, y);
  if constexpr (activation == Activation::relu_squared) relu_squared(queue, h, y);
  if constexpr (activation == Activation::swiglu) swiglu(queue, h, y);
  if constexpr (activation == Activation::geglu_exact) geglu_exact(queue, h, y);
  if constexpr (activation == Activation::geglu_tanh) geglu_tanh(queue, h, y);
}

/// Writes dh over h if the activation is gated, otherwise over dy, and returns it.
template <Activation activation> View activate_backward(auto queue, View h, View dy) {
  if constexpr (activation == Activation::gelu_exact) gelu_exact_backward(queue, h, dy, dy);
  if constexpr (activation == Activation::gelu_tanh) gelu_tanh_backward(queue, h, dy, dy);
  if constexpr (activation == Activation::relu_squared) relu_squared_backward(queue, h, dy, dy);
  if constexpr (activation == Activation::swiglu) swiglu_backward(queue, h, dy, h);
  if constexpr (activation == Activation::geglu_exact) geglu_exact_backward(queue, h, dy, h);
  if constexpr (activation == Activation::geglu_tanh) geglu_tanh_backward(queue, h, dy, h);
  return is_gated(activation) ? h : dy;
}

}  // namespace monomorph
