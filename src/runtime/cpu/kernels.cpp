#include <monomorph/runtime/kernels/activation.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>
#include "runtime/cpu/dispatch.hpp"

// The kernels that are nothing but their compilations in src/runtime/isa.
namespace monomorph::cpu {

MONOMORPH_DISPATCH(void, gelu_exact, (View h, View y), (h, y))
MONOMORPH_DISPATCH(void, gelu_exact_backward, (View h, View dy, View dh), (h, dy, dh))
MONOMORPH_DISPATCH(void, gelu_tanh, (View h, View y), (h, y))
MONOMORPH_DISPATCH(void, gelu_tanh_backward, (View h, View dy, View dh), (h, dy, dh))
MONOMORPH_DISPATCH(void, relu_squared, (View h, View y), (h, y))
MONOMORPH_DISPATCH(void, relu_squared_backward, (View h, View dy, View dh), (h, dy, dh))
MONOMORPH_DISPATCH(void, swiglu, (View gate_up, View y), (gate_up, y))
MONOMORPH_DISPATCH(void, swiglu_backward, (View gate_up, View dy, View dgate_up), (gate_up, dy, dgate_up))
MONOMORPH_DISPATCH(void, geglu_exact, (View gate_up, View y), (gate_up, y))
MONOMORPH_DISPATCH(void, geglu_exact_backward, (View gate_up, View dy, View dgate_up), (gate_up, dy, dgate_up))
MONOMORPH_DISPATCH(void, geglu_tanh, (View gate_up, View y), (gate_up, y))
MONOMORPH_DISPATCH(void, geglu_tanh_backward, (View gate_up, View dy, View dgate_up), (gate_up, dy, dgate_up))

MONOMORPH_DISPATCH(void, layer_norm, (View x, View weight, View bias, double epsilon, View y, View mean, View rstd),
                   (x, weight, bias, epsilon, y, mean, rstd))
MONOMORPH_DISPATCH(void, rms_norm,
                   (View x, View weight, View bias, double epsilon, View y, View rstd, double weight_offset),
                   (x, weight, bias, epsilon, y, rstd, weight_offset))
MONOMORPH_DISPATCH(void, layer_norm_recompute, (View x, View weight, View bias, View mean, View rstd, View y),
                   (x, weight, bias, mean, rstd, y))
MONOMORPH_DISPATCH(void, rms_norm_recompute, (View x, View weight, View bias, View rstd, View y, double weight_offset),
                   (x, weight, bias, rstd, y, weight_offset))
MONOMORPH_DISPATCH(void, layer_norm_backward,
                   (View dy, View x, View weight, View mean, View rstd, View dx, bool add_to_dx, View dweight,
                    View dbias, bool accumulate),
                   (dy, x, weight, mean, rstd, dx, add_to_dx, dweight, dbias, accumulate))
MONOMORPH_DISPATCH(void, rms_norm_backward,
                   (View dy, View x, View weight, View rstd, View dx, bool add_to_dx, View dweight, View dbias,
                    bool accumulate, double weight_offset),
                   (dy, x, weight, rstd, dx, add_to_dx, dweight, dbias, accumulate, weight_offset))

MONOMORPH_DISPATCH(void, rotary,
                   (View x, View cos, View sin, std::int64_t tokens, std::int64_t first_position, bool inverse,
                    const std::int32_t* document_starts),
                   (x, cos, sin, tokens, first_position, inverse, document_starts))

MONOMORPH_DISPATCH(void, dropout, (View x, View y, const DropoutKey& key), (x, y, key))
MONOMORPH_DISPATCH(void, dropout_add, (View x, View residual, View y, const DropoutKey& key), (x, residual, y, key))

MONOMORPH_DISPATCH(void, copy, (View from, View to), (from, to))
MONOMORPH_DISPATCH(void, zero, (View x), (x))
MONOMORPH_DISPATCH(void, add, (View x, View y), (x, y))
MONOMORPH_DISPATCH(void, pairwise_sum, (std::span<const View> parts, View sum, bool accumulate),
                   (parts, sum, accumulate))

MONOMORPH_DISPATCH(ExactSum, sum_of_squares, (View x), (x))
MONOMORPH_DISPATCH(ExactSum, sum_of_magnitudes, (View x), (x))
MONOMORPH_DISPATCH(double, greatest_magnitude, (View x), (x))
MONOMORPH_DISPATCH(void, scale, (View x, double a, View y), (x, a, y))
MONOMORPH_DISPATCH(void, scale_and_add, (View x, double a, View y, double b), (x, a, y, b))
MONOMORPH_DISPATCH(void, soft_cap, (View x, double cap, View y), (x, cap, y))
MONOMORPH_DISPATCH(void, soft_cap_backward, (View y, View dy, double cap, View dx), (y, dy, cap, dx))

}  // namespace monomorph::cpu
