#pragma once
#include "runtime/kernels/host_device.hpp"

/// Activations of one element and their slopes, for kernels of every device. All is local to the translation unit, as
/// elements are.
namespace monomorph {
namespace {

// NaN is not below zero, so it comes through.
struct ReluSquared {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S h) const { return h < 0 ? S(0) : h * h; }
};
struct ReluSquaredSlope {
  template <class S> MONOMORPH_HOST_DEVICE S operator()(S h) const { return h < 0 ? S(0) : h + h; }
};

}  // namespace
}  // namespace monomorph
