#pragma once
#include "runtime/kernels/exponential.hpp"
#include "runtime/kernels/host_device.hpp"

/// Activations of one element and their slopes, for kernels of every device. All is local to the translation unit, as
/// elements are.
namespace monomorph {
namespace {

struct GeluExact {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S h) const { return h * standard_normal(h).below; }
};
struct GeluExactSlope {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S h) const {
    const auto normal = standard_normal(h);
    return normal.below + h * normal.density;
  }
};

/// The sigmoid, exact to the last bits of a number.
struct ExactSigmoid {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S x) const { return sigmoid(x); }
};

// tanh-GELU is h · sigmoid(2 u) with u = √(2/π) (h + 0.044715 h³).
template <class S> MONOMORPH_HOST_DEVICE inline S twice_u(S h) {
  return S(1.5957691216057307117597842397375) * (h + S(0.044715) * h * h * h);
}
template <class Sigmoid = ExactSigmoid> struct GeluTanh {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S h) const { return h * Sigmoid{}(twice_u(h)); }
};
template <class Sigmoid = ExactSigmoid> struct GeluTanhSlope {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S h) const {
    const S gate = Sigmoid{}(twice_u(h));
    const S twice_du = S(1.5957691216057307117597842397375) * (S(1) + S(3 * 0.044715) * h * h);
    return gate + h * gate * (S(1) - gate) * twice_du;
  }
};

/// The gradients of a gate and of what it gates.
template <class S> struct GateGradients { S gate, up; };

template <class Sigmoid = ExactSigmoid> struct Swiglu {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S gate, S up) const { return gate * Sigmoid{}(gate)*up; }
};
template <class Sigmoid = ExactSigmoid> struct SwigluGradients {
  template <class S> MONOMORPH_HOST_DEVICE GateGradients<S> operator()(S gate, S up, S incoming) const {
    const S s = Sigmoid{}(gate);
    return {incoming * up * (s + gate * s * (S(1) - s)), incoming * gate * s};
  }
};

/// Gated by an activation of one number.
template <class Gelu> struct Geglu {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S gate, S up) const { return Gelu{}(gate)*up; }
};
struct GegluExactGradients {
  template <class S> MONOMORPH_HOST_DEVICE GateGradients<S> operator()(S gate, S up, S incoming) const {
    const auto normal = standard_normal(gate);
    return {incoming * up * (normal.below + gate * normal.density), incoming * (gate * normal.below)};
  }
};
template <class Sigmoid = ExactSigmoid> struct GegluTanhGradients {
  template <class S> MONOMORPH_HOST_DEVICE GateGradients<S> operator()(S gate, S up, S incoming) const {
    return {incoming * up * GeluTanhSlope<Sigmoid>{}(gate), incoming * GeluTanh<Sigmoid>{}(gate)};
  }
};

// NaN is not below zero, so it comes through.
struct ReluSquared {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S h) const { return h < 0 ? S(0) : h * h; }
};
struct ReluSquaredSlope {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S h) const { return h < 0 ? S(0) : h + h; }
};

}  // namespace
}  // namespace monomorph
