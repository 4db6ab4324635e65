#pragma once
#include <monomorph/block/part.hpp>
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// Calls the kernel of a recipe's norm; the other kind's kernel is not in the binary.
namespace monomorph::model {

template <class R> void normalize(auto queue, View x, View weight, View bias, View y, View mean, View rstd) {
  constexpr NormSpec norm = trunk_of<R>.norm;
  if constexpr (norm.kind == NormKind::layer_norm)
    layer_norm(queue, x, weight, bias, norm.epsilon, y, mean, rstd);
  else
    rms_norm(queue, x, weight, bias, norm.epsilon, y, rstd, weight_offset(norm.kind));
}

template <class R>
void normalize_backward(auto queue, View dy, View x, View weight, View mean, View rstd, View dx, bool add_to_dx,
                        View dweight, View dbias, bool accumulate) {
  constexpr NormSpec norm = trunk_of<R>.norm;
  if constexpr (norm.kind == NormKind::layer_norm)
    layer_norm_backward(queue, dy, x, weight, mean, rstd, dx, add_to_dx, dweight, dbias, accumulate);
  else
    rms_norm_backward(queue, dy, x, weight, rstd, dx, add_to_dx, dweight, dbias, accumulate, weight_offset(norm.kind));
}

/// Norms within a block, whose parameters and statistics are slices.   @param t a pass of the block, or of a part of it
template <class R>
void normalize(const auto& t, const NormParams& p, const NormStatistics& statistics, View x, View y) {
  normalize<R>(t.queue, x, t.params[p.weight_D], t.params[p.bias_D], y, t.statistics[statistics.mean],
               t.statistics[statistics.rstd]);
}
template <class R>
void normalize_recompute(const auto& t, const NormParams& p, const NormStatistics& statistics, View x, View y) {
  const View weight = t.params[p.weight_D], bias = t.params[p.bias_D];
  if constexpr (trunk_of<R>.norm.kind == NormKind::layer_norm)
    layer_norm_recompute(t.queue, x, weight, bias, t.statistics[statistics.mean], t.statistics[statistics.rstd], y);
  else
    rms_norm_recompute(t.queue, x, weight, bias, t.statistics[statistics.rstd], y,
                       weight_offset(trunk_of<R>.norm.kind));
}
/// What forward computes, and recomputation of the whole block: a type, so that a recipe that computes nothing less has
/// no code for it.
struct AllOfBlock {
  static constexpr bool norm = true;
  constexpr operator Recompute() const { return Recompute::block; }
};
template <class R>
void normalize(const auto& t, AllOfBlock, const NormParams& p, const NormStatistics& statistics, View x, View y) {
  normalize<R>(t, p, statistics, x, y);
}
/// Where less than the whole block is computed again: makes the output anew from statistics that are kept.
template <class R>
void normalize(const auto& t, Recompute, const NormParams& p, const NormStatistics& statistics, View x, View y) {
  normalize_recompute<R>(t, p, statistics, x, y);
}
/// The norm as a kernel gets it that rounds its output for a product.
template <class R>
NormedInput normed_input(const auto& t, auto what, const NormParams& p, const NormStatistics& statistics, View x) {
  return {.kind = trunk_of<R>.norm.kind,
          .x_MK = x,
          .weight_K = t.params[p.weight_D],
          .bias_K = t.params[p.bias_D],
          .epsilon = trunk_of<R>.norm.epsilon,
          .mean_M = t.statistics[statistics.mean],
          .rstd_M = t.statistics[statistics.rstd],
          .from_saved = !std::is_same_v<decltype(what), AllOfBlock>};
}
template <class R>
void normalize_backward(const auto& t, const NormParams& p, const NormStatistics& statistics, View dy, View x, View dx,
                        bool add_to_dx) {
  normalize_backward<R>(t.queue, dy, x, t.params[p.weight_D], t.statistics[statistics.mean],
                        t.statistics[statistics.rstd], dx, add_to_dx, t.gradients[p.weight_D], t.gradients[p.bias_D],
                        t.accumulate);
}

}  // namespace monomorph::model
