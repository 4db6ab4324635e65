#pragma once
#include <monomorph/block/dense_mlp.hpp>
#include <monomorph/model/low_rank_adapters.hpp>
#include <monomorph/model/part_tensors.hpp>
#include <monomorph/model/scaled_products.hpp>
#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/kernels/linear_activate.hpp>

/// The bodies of MlpOfWidth.
namespace monomorph {

/// What the activation makes, as it is kept.
template <class R, std::int64_t width, const MlpNames& names>
View MlpOfWidth<R, width, names>::activated(const PartTensors<MlpOfWidth>& t) {
  if constexpr (rounds_activated)
    return model::kept_input(t, down_product, t.saved.activated_MF);
  else
    return t.activation(t.saved.activated_MF);
}

/// Into the room, too, where project finds it: should that alone be called again, what is kept is put there.
template <class R, std::int64_t width, const MlpNames& names>
void MlpOfWidth<R, width, names>::round_activated(const PartTensors<MlpOfWidth>& t, Recompute what) {
  const ScaledProduct down = model::scaled_product(t, down_product);
  if (what.activation)
    scaled_activate(t.queue, model.activation, t.activation(t.saved.up_MG), activated(t), down);
  else if (what.projection)
    scaled_input_again(t.queue, activated(t), down);
}

template <class R, std::int64_t width, const MlpNames& names>
void MlpOfWidth<R, width, names>::compute(const PartTensors<MlpOfWidth>& t, View in, Recompute what) {
  const View up = t.activation(t.saved.up_MG);
  const View weight = t.param(t.p.up_GxD), bias = t.param(t.p.up_bias_G);
  // One kernel makes other bits of the two than two kernels do: where backward computes one of them again and not the
  // other, forward has them apart, too.
  const Recompute again = R::checkpointing::recompute(t.t.block);
  const bool together =
      !Scaled::present && !GateAdapter::present && !UpAdapter::present && again.mlp == again.activation;
  if (what.mlp && what.activation && together) {
    linear_activate<model.activation>(t.queue, in, weight, bias, up, activated(t));
  } else {
    if (what.mlp) {
      model::product(t, up_product, in, weight, bias, up);
      model::adapter_compute<GateAdapter>(t, t.p.adapters.gate, in, t.saved.gate_hidden_Mr);
      model::adapter_add<GateAdapter>(t, t.p.adapters.gate, t.saved.gate_hidden_Mr, up.columns(0, F));
      model::adapter_compute<UpAdapter>(t, t.p.adapters.up, in, t.saved.up_hidden_Mr);
      model::adapter_add<UpAdapter>(t, t.p.adapters.up, t.saved.up_hidden_Mr, up.columns(G - F, F));
    }
    if constexpr (rounds_activated)
      round_activated(t, what);
    else if (what.activation)
      activate<model.activation>(t.queue, up, activated(t));
  }
  if (what.mlp) model::adapter_compute<DownAdapter>(t, t.p.adapters.down, activated(t), t.saved.down_hidden_Mr);
}

template <class R, std::int64_t width, const MlpNames& names>
void MlpOfWidth<R, width, names>::project(const PartTensors<MlpOfWidth>& t, View residual, View out) {
  model::product_add(t, down_product, activated(t), t.param(t.p.down_DxF), t.param(t.p.down_bias_D), residual, out);
  model::adapter_add<DownAdapter>(t, t.p.adapters.down, t.saved.down_hidden_Mr, out);
}

/// From the gradient of the result to that of `up`, which takes the place of `up` where the activation is gated, and
/// else that of d(activated); where products are in fp8, it lies rounded in the room, and is stored if it is read.
/// d(activated) takes the place of `activated` where that is of bf16.
template <class R, std::int64_t width, const MlpNames& names>
View MlpOfWidth<R, width, names>::backward_activation(const PartTensors<MlpOfWidth>& t, View dout) {
  const View up = t.activation(t.saved.up_MG), weight = t.param(t.p.down_DxF);
  const View dactivated = rounds_activated ? t.activation(t.temporary.dactivated_MF) : activated(t);
  if constexpr (!DownAdapter::present && !Scaled::present) {
    return linear_backward_input_activate<model.activation>(t.queue, dout, weight, up, dactivated);
  } else {
    model::product_backward_input(t, down_product, dout, weight, dactivated);
    model::adapter_backward_input<DownAdapter>(t, t.p.adapters.down, t.saved.down_hidden_Mr, dactivated);
    if constexpr (Scaled::present) {
      const View dup = !stores_dup ? View{} : gated ? up : dactivated;
      scaled_activate_backward(t.queue, model.activation, up, dactivated, dup, t.gradient(t.p.up_GxD).present(),
                               model::scaled_product(t, up_product));
      return dup;
    } else {
      return activate_backward<model.activation>(t.queue, up, dactivated);
    }
  }
}

template <class R, std::int64_t width, const MlpNames& names>
void MlpOfWidth<R, width, names>::backward(const PartTensors<MlpOfWidth>& t, View in, View dout, View din,
                                           bool accumulate) {
  model::product_backward_weight(t, down_product, dout, activated(t), t.gradient(t.p.down_DxF),
                                 t.gradient(t.p.down_bias_D));
  model::adapter_backward<DownAdapter>(t, t.p.adapters.down, dout, activated(t), t.saved.down_hidden_Mr);
  const View dup = backward_activation(t, dout);
  const View dweight = t.gradient(t.p.up_GxD), dbias = t.gradient(t.p.up_bias_G);
  if constexpr (Scaled::present)
    model::product_backward_rounded(t, up_product, dup, in, dweight, dbias);
  else
    model::product_backward_weight(t, up_product, dup, in, dweight, dbias);
  if constexpr (stores_dup) {
    model::adapter_backward<GateAdapter>(t, t.p.adapters.gate, dup.columns(0, F), in, t.saved.gate_hidden_Mr);
    model::adapter_backward<UpAdapter>(t, t.p.adapters.up, dup.columns(G - F, F), in, t.saved.up_hidden_Mr);
  }
  model::product_backward_input(t, up_product, dup, t.param(t.p.up_GxD), din, accumulate);
  model::adapter_backward_input<GateAdapter>(t, t.p.adapters.gate, t.saved.gate_hidden_Mr, din);
  model::adapter_backward_input<UpAdapter>(t, t.p.adapters.up, t.saved.up_hidden_Mr, din);
  model::no_gradient_of_history(t);
}

template <class R, std::int64_t width, const MlpNames& names>
void MlpOfWidth<R, width, names>::decode(const PartDecode<MlpOfWidth>& t, View in, View residual, View out) {
  const View up = t.activation(t.temporary.up_BG), activated = t.activation(t.temporary.activated_BF);
  linear(t.queue, in, t.param(t.p.up_GxD), t.param(t.p.up_bias_G), up);
  model::adapter_decode<GateAdapter>(t, t.p.adapters.gate, in, up.columns(0, F));
  model::adapter_decode<UpAdapter>(t, t.p.adapters.up, in, up.columns(G - F, F));
  activate<model.activation>(t.queue, up, activated);
  linear_add(t.queue, activated, t.param(t.p.down_DxF), t.param(t.p.down_bias_D), residual, out);
  model::adapter_decode<DownAdapter>(t, t.p.adapters.down, activated, out);
}

}  // namespace monomorph
