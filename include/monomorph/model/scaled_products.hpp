#pragma once
#include <monomorph/block/scaled_products.hpp>
#include <monomorph/model/part_tensors.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>

/// The products of a part with its weights: in fp8 where the recipe's precision says so, or else as its dtype has them.
/// `Part::Scaled` is the part's ScaledProducts, and i a product's number among them.
namespace monomorph::model {

/// What product i of the part has beside its tensors.
template <class Part> ScaledProduct scaled_product(const PartTensors<Part>& t, int i) {
  static_assert(Part::Scaled::numbers_of_product == numbers_of_scales);
  const View kept_w = t.t.training ? t.activation(t.saved.weights.of[i]) : View();
  const auto& [in, out] = Part::products[i];
  return {.scales = t.statistic(t.saved.scales).template as<const float>() + numbers_of_scales * i,
          .maxima = t.t.maxima == nullptr ? nullptr : t.t.maxima + Part::first_maximum + scaled_tensors * i,
          .room = t.activation(t.temporary.room),
          .kept_w_KN = kept_w.present() ? View(kept_w.data, DType::e4m3, {in, out}) : View(),
          .M = t.t.batch * t.t.tokens,
          .N = out,
          .K = in};
}
/// The input of product i as it is kept for backward, in a slice of ScaledProducts::kept_input.
template <class Part> View kept_input(const PartTensors<Part>& t, int i, Slice slice) {
  return {t.activation(slice).data, DType::e4m3, {Part::products[i].in, t.t.batch * t.t.tokens}};
}

/// Before what makes a part's input in forward, and again where a whole block is computed again, as its scales are then
/// not kept.
template <class Part> void choose_scales(const PartTensors<Part>& t, Recompute what) {
  if constexpr (requires { Part::Scaled::present; })
    if constexpr (Part::Scaled::present)
      if (what == Recompute::block)
        amax_scales(t.queue, t.param(t.p.amax_history), Part::Scaled::margin, t.statistic(t.saved.scales));
}

template <class Part> void product(const PartTensors<Part>& t, int i, View x, View w, View bias, View y) {
  if constexpr (Part::Scaled::present)
    scaled_linear(t.queue, x, w, bias, y, scaled_product(t, i));
  else
    linear(t.queue, x, w, bias, y);
}

template <class Part>
void product_add(const PartTensors<Part>& t, int i, View x, View w, View bias, View residual, View y) {
  if constexpr (Part::Scaled::present)
    scaled_linear_add(t.queue, x, w, bias, residual, y, scaled_product(t, i));
  else
    linear_add(t.queue, x, w, bias, residual, y);
}

template <class Part>
void product_backward_weight(const PartTensors<Part>& t, int i, View dy, View x, View dw, View dbias) {
  if constexpr (Part::Scaled::present)
    scaled_linear_backward_weight(t.queue, dy, x, dw, dbias, t.t.accumulate, scaled_product(t, i));
  else
    linear_backward_weight(t.queue, dy, x, dw, dbias, t.t.accumulate);
}

/// The same where the kernel that made dy has rounded it.   @param dy as it was before; absent only if dbias is
template <class Part>
void product_backward_rounded(const PartTensors<Part>& t, int i, View dy, View x, View dw, View dbias) {
  scaled_linear_backward_weight(t.queue, View{}, x, dw, View{}, t.t.accumulate, scaled_product(t, i));
  if (dbias.present()) linear_backward_weight(t.queue, dy, View{}, View{}, dbias, t.t.accumulate);
}

/// Behind product_backward_weight of the same product, before that of any other.
template <class Part>
void product_backward_input(const PartTensors<Part>& t, int i, View dy, View w, View dx, bool accumulate = false) {
  if constexpr (Part::Scaled::present)
    scaled_linear_backward_input(t.queue, w, dx, accumulate, scaled_product(t, i));
  else
    linear_backward_input(t.queue, dy, w, dx, accumulate);
}

/// The history has no gradient: there are zeros in its place.
template <class Part> void no_gradient_of_history(const PartTensors<Part>& t) {
  if constexpr (Part::Scaled::present)
    if (!t.t.accumulate) zero(t.queue, t.gradient(t.p.amax_history));
}

}  // namespace monomorph::model
