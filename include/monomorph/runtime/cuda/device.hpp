#pragma once
#include <monomorph/device/cuda.hpp>
#include <monomorph/runtime/cuda/connect.hpp>
#include <monomorph/runtime/cuda/fused_products.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/cuda/memory.hpp>
#include <monomorph/runtime/cuda/qk_norm_rotary.hpp>
#include <monomorph/runtime/cuda/recording.hpp>
#include <monomorph/runtime/cuda/transfers.hpp>
#include <monomorph/runtime/kernels/kernels.hpp>

/// The device cuda with all that it has: what a program that computes there includes beside its recipe.
namespace monomorph {
static_assert(Kernels<cuda::Queue>);
}  // namespace monomorph
