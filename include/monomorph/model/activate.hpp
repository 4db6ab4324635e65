#pragma once
#include <monomorph/runtime/kernels/activation.hpp>
#include <monomorph/spec/model_spec.hpp>

/// Picks the kernel of an Activation.
namespace monomorph::model {

template <Activation activation> void activate(View h, View y) {
  if constexpr (activation == Activation::gelu_exact) kernels::gelu_exact(h, y);
  if constexpr (activation == Activation::gelu_tanh) kernels::gelu_tanh(h, y);
  if constexpr (activation == Activation::relu_squared) kernels::relu_squared(h, y);
  if constexpr (activation == Activation::swiglu) kernels::swiglu(h, y);
}

/// Writes dh over h if the activation is gated, otherwise over dy, and returns it.
template <Activation activation> View activate_backward(View h, View dy) {
  if constexpr (activation == Activation::gelu_exact) kernels::gelu_exact_backward(h, dy, dy);
  if constexpr (activation == Activation::gelu_tanh) kernels::gelu_tanh_backward(h, dy, dy);
  if constexpr (activation == Activation::relu_squared) kernels::relu_squared_backward(h, dy, dy);
  if constexpr (activation == Activation::swiglu) {
    kernels::swiglu_backward(h, dy, h);
    return h;
  }
  return dy;
}

}  // namespace monomorph::model
