#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// Normalisation of groups of H = weight_H.cols features: the whole row (layer norms), or each head of it (QK-norm), in
/// which case M tokens have M·G groups, G = x.cols / H. Statistics are fp32 (fp64 in fp64), one row of M·G elements.
/// x may be strided; bias may be absent.
namespace monomorph {

/// What is added to a weight that is stored as it is: not even the sign of a zero changes.
inline constexpr double no_weight_offset = -0.0;
/// What is added to the weights of a kind of norm.
constexpr double weight_offset(NormKind kind) {
  return kind == NormKind::zero_centered_rms_norm ? 1 : no_weight_offset;
}

namespace cpu {

/// y = (x - mean) · rstd · weight + bias, rstd = 1 / sqrt(variance + epsilon), biased variance (Ba et al. 2016).
void layer_norm(Queue, View x_MD, View weight_H, View bias_H, double epsilon, View y_MD, View mean_M, View rstd_M);

/// y = x · rstd · (weight + weight_offset) + bias, rstd = 1 / sqrt(mean(x²) + epsilon) (Zhang and Sennrich 2019). The
/// offset is added in the precision of the statistics: 1 of norms that store by how much they differ from 1.
void rms_norm(Queue, View x_MD, View weight_H, View bias_H, double epsilon, View y_MD, View rstd_M,
              double weight_offset = no_weight_offset);

/// Recomputes the normalised output from saved statistics, with the same bits as the forward pass.
void layer_norm_recompute(Queue, View x_MD, View weight_H, View bias_H, View mean_M, View rstd_M, View y_MD);
void rms_norm_recompute(Queue, View x_MD, View weight_H, View bias_H, View rstd_M, View y_MD,
                        double weight_offset = no_weight_offset);

/// dx += (add_to_dx) or = the gradient of x. dweight and dbias are summed over tokens in an order that depends on the
/// shape alone; they are overwritten, or added to with `accumulate`. Both may be absent: of a frozen unit. dx may be
/// dy.
void layer_norm_backward(Queue, View dy_MD, View x_MD, View weight_H, View mean_M, View rstd_M, View dx_MD,
                         bool add_to_dx, View dweight_H, View dbias_H, bool accumulate);
void rms_norm_backward(Queue, View dy_MD, View x_MD, View weight_H, View rstd_M, View dx_MD, bool add_to_dx,
                       View dweight_H, View dbias_H, bool accumulate, double weight_offset = no_weight_offset);

}  // namespace cpu
}  // namespace monomorph
