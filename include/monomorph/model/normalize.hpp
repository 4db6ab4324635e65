#pragma once
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/spec/model_spec.hpp>

/// Calls the kernel of a recipe's norm; the other kind's kernel is not in the binary.
namespace monomorph::model {

template <class R> void normalize(View x, View weight, View bias, View y, View mean, View rstd) {
  constexpr NormSpec norm = R::model.norm;
  if constexpr (norm.kind == NormKind::layer_norm)
    kernels::layer_norm(x, weight, bias, norm.epsilon, y, mean, rstd);
  else
    kernels::rms_norm(x, weight, bias, norm.epsilon, y, rstd);
}

template <class R> void normalize_recompute(View x, View weight, View bias, View mean, View rstd, View y) {
  constexpr NormSpec norm = R::model.norm;
  if constexpr (norm.kind == NormKind::layer_norm)
    kernels::layer_norm_recompute(x, weight, bias, mean, rstd, y);
  else
    kernels::rms_norm_recompute(x, weight, bias, rstd, y);
}

template <class R>
void normalize_backward(View dy, View x, View weight, View mean, View rstd, View dx, bool add_to_dx, View dweight,
                        View dbias, bool accumulate) {
  constexpr NormSpec norm = R::model.norm;
  if constexpr (norm.kind == NormKind::layer_norm)
    kernels::layer_norm_backward(dy, x, weight, mean, rstd, dx, add_to_dx, dweight, dbias, accumulate);
  else
    kernels::rms_norm_backward(dy, x, weight, rstd, dx, add_to_dx, dweight, dbias, accumulate);
}

}  // namespace monomorph::model
