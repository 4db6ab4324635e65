#pragma once
#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/kernels/linear.hpp>

/// A product and the activation of its result, or of what its result is the gradient of. A device that computes both in
/// one kernel has a function of its own for that; others compute one after the other, as CPUs do.
namespace monomorph {

template <class Queue> concept FusesGeluTanh = requires(Queue queue, View v) {
  linear_gelu_tanh(queue, v, v, v, v, v);
  linear_backward_input_gelu_tanh(queue, v, v, v, v);
};

/// h = x wᵀ + bias and y = activation(h). A device that fuses the two need not round h before it is activated, so that
/// y may be another one than activate() makes of the h that is kept.
template <Activation activation> void linear_activate(auto queue, View x, View w, View bias, View h, View y) {
  if constexpr (activation == Activation::gelu_tanh && FusesGeluTanh<decltype(queue)>) {
    linear_gelu_tanh(queue, x, w, bias, h, y);
  } else {
    linear(queue, x, w, bias, h);
    activate<activation>(queue, h, y);
  }
}

/// The gradient of h, of the gradient of what a product with w has made of y = activation(h). Written over h if the
/// activation is gated, otherwise to `dy`, and returned.
/// @param dy_MF holds anything, and may be y itself
template <Activation activation>
View linear_backward_input_activate(auto queue, View dout, View w, View h, View dy_MF) {
  if constexpr (activation == Activation::gelu_tanh && FusesGeluTanh<decltype(queue)>) {
    linear_backward_input_gelu_tanh(queue, dout, w, h, dy_MF);
    return dy_MF;
  } else {
    linear_backward_input(queue, dout, w, dy_MF);
    return activate_backward<activation>(queue, h, dy_MF);
  }
}

}  // namespace monomorph
