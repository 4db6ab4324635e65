#pragma once
#include "runtime/kernels/host_device.hpp"

namespace monomorph::cuda {
namespace {

/// a b + c, rounded once: nvcc is told to fuse nothing by itself (docs/why/cuda_backend.md), so products say where.
MONOMORPH_HOST_DEVICE inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
MONOMORPH_HOST_DEVICE inline double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

}  // namespace
}  // namespace monomorph::cuda
