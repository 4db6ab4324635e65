#pragma once
#include <monomorph/spec/decoder_spec.hpp>

#include "runtime/kernels/activation_math.hpp"

#include <cuda_runtime.h>

#include <type_traits>

/// Activations and their slopes as kernels compute them of elements T.
namespace monomorph::cuda {
namespace {

/// Of elements of 16 bits, by the GPU's own approximations: with the polynomials that the CPU shares, these kernels
/// would wait for arithmetic and not for memory. Its relative error of about 1e-6 is far below theirs.
struct CoarseSigmoid {
  __device__ float operator()(float x) const { return __fdividef(1.0f, 1.0f + __expf(-x)); }
};
template <class T> using SigmoidFor = std::conditional_t<sizeof(T) == 2, CoarseSigmoid, ExactSigmoid>;

/// Of each activation its function, and its slope or, where it is gated, the gradients of gate and up.
template <Activation activation, class T> struct FunctionsOf;
template <class T> struct FunctionsOf<Activation::gelu_exact, T> {
  using Function = GeluExact;
  using Slope = GeluExactSlope;
};
template <class T> struct FunctionsOf<Activation::gelu_tanh, T> {
  using Function = GeluTanh<SigmoidFor<T>>;
  using Slope = GeluTanhSlope<SigmoidFor<T>>;
};
template <class T> struct FunctionsOf<Activation::relu_squared, T> {
  using Function = ReluSquared;
  using Slope = ReluSquaredSlope;
};
template <class T> struct FunctionsOf<Activation::swiglu, T> {
  using Function = Swiglu<SigmoidFor<T>>;
  using Gradients = SwigluGradients<SigmoidFor<T>>;
};
template <class T> struct FunctionsOf<Activation::geglu_exact, T> {
  using Function = Geglu<GeluExact>;
  using Gradients = GegluExactGradients;
};
template <class T> struct FunctionsOf<Activation::geglu_tanh, T> {
  using Function = Geglu<GeluTanh<SigmoidFor<T>>>;
  using Gradients = GegluTanhGradients<SigmoidFor<T>>;
};
template <Activation activation, class T> using FunctionOf = typename FunctionsOf<activation, T>::Function;
template <Activation activation, class T> using SlopeOf = typename FunctionsOf<activation, T>::Slope;
template <Activation activation, class T> using GradientsOf = typename FunctionsOf<activation, T>::Gradients;

}  // namespace
}  // namespace monomorph::cuda
