#pragma once
#include "runtime/kernels/activation_math.hpp"

#include <cuda_runtime.h>

#include <type_traits>

/// Activations and their slopes as kernels compute them of elements T.
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

template <class T> using GeluExactOf = GeluExact;
template <class T> using GeluExactSlopeOf = GeluExactSlope;
template <class T> using GeluTanhOf = GeluTanh<SigmoidFor<T>>;
template <class T> using GeluTanhSlopeOf = GeluTanhSlope<SigmoidFor<T>>;
template <class T> using ReluSquaredOf = ReluSquared;
template <class T> using ReluSquaredSlopeOf = ReluSquaredSlope;
template <class T> using SwigluOf = Swiglu<SigmoidFor<T>>;
template <class T> using SwigluGradientsOf = SwigluGradients<SigmoidFor<T>>;
template <class T> using GegluExactOf = Geglu<GeluExact>;
template <class T> using GegluExactGradientsOf = GegluExactGradients;
template <class T> using GegluTanhOf = Geglu<GeluTanhOf<T>>;
template <class T> using GegluTanhGradientsOf = GegluTanhGradients<SigmoidFor<T>>;

}  // namespace
}  // namespace monomorph::cuda
