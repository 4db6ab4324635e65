#pragma once
#include <monomorph/block/dense_mlp.hpp>
#include <monomorph/model/low_rank_adapters.hpp>
#include <monomorph/model/part_tensors.hpp>
#include <monomorph/model/scaled_products.hpp>
#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/kernels/linear_activate.hpp>

/// The bodies of MlpOfWidth.
namespace monomorph {

template <class R, std::int64_t width, const MlpNames& names>
void MlpOfWidth<R, width, names>::compute(const PartTensors<MlpOfWidth>& t, View in, Recompute what) {
  const View up = t.activation(t.saved.up_MG), activated = t.activation(t.saved.activated_MF);
  const View weight = t.param(t.p.up_GxD), bias = t.param(t.p.up_bias_G);
  if (what == Recompute::block) model::choose_scales(t);
  // One kernel makes other bits of the two than two kernels do: where backward computes one of them again and not the
  // other, forward has them apart, too.
  const Recompute again = R::checkpointing::recompute(t.t.block);
  const bool together =
      !Scaled::present && !GateAdapter::present && !UpAdapter::present && again.mlp == again.activation;
  if (what.mlp && what.activation && together) {
    linear_activate<model.activation>(t.queue, in, weight, bias, up, activated);
  } else {
    if (what.mlp) {
      model::product(t, up_product, in, weight, bias, up);
      model::adapter_compute<GateAdapter>(t, t.p.adapters.gate, in, t.saved.gate_hidden_Mr);
      model::adapter_add<GateAdapter>(t, t.p.adapters.gate, t.saved.gate_hidden_Mr, up.columns(0, F));
      model::adapter_compute<UpAdapter>(t, t.p.adapters.up, in, t.saved.up_hidden_Mr);
      model::adapter_add<UpAdapter>(t, t.p.adapters.up, t.saved.up_hidden_Mr, up.columns(G - F, F));
    }
    if (what.activation) activate<model.activation>(t.queue, up, activated);
  }
  if (what.mlp) model::adapter_compute<DownAdapter>(t, t.p.adapters.down, activated, t.saved.down_hidden_Mr);
}

template <class R, std::int64_t width, const MlpNames& names>
void MlpOfWidth<R, width, names>::project(const PartTensors<MlpOfWidth>& t, View residual, View out) {
  model::product_add(t, down_product, t.activation(t.saved.activated_MF), t.param(t.p.down_DxF),
                     t.param(t.p.down_bias_D), residual, out);
  model::adapter_add<DownAdapter>(t, t.p.adapters.down, t.saved.down_hidden_Mr, out);
}

/// d(activated) takes the place of `activated`, and that of `up` where the activation is gated.
template <class R, std::int64_t width, const MlpNames& names>
void MlpOfWidth<R, width, names>::backward(const PartTensors<MlpOfWidth>& t, View in, View dout, View din,
                                           bool accumulate) {
  const View up = t.activation(t.saved.up_MG), activated = t.activation(t.saved.activated_MF);
  model::product_backward_weight(t, down_product, dout, activated, t.gradient(t.p.down_DxF),
                                 t.gradient(t.p.down_bias_D));
  model::adapter_backward<DownAdapter>(t, t.p.adapters.down, dout, activated, t.saved.down_hidden_Mr);
  const View dup = [&] {
    const View weight = t.param(t.p.down_DxF);
    if constexpr (!DownAdapter::present && !Scaled::present) {
      return linear_backward_input_activate<model.activation>(t.queue, dout, weight, up, activated);
    } else {
      model::product_backward_input(t, down_product, dout, weight, activated);
      model::adapter_backward_input<DownAdapter>(t, t.p.adapters.down, t.saved.down_hidden_Mr, activated);
      return activate_backward<model.activation>(t.queue, up, activated);
    }
  }();
  model::product_backward_weight(t, up_product, dup, in, t.gradient(t.p.up_GxD), t.gradient(t.p.up_bias_G));
  model::adapter_backward<GateAdapter>(t, t.p.adapters.gate, dup.columns(0, F), in, t.saved.gate_hidden_Mr);
  model::adapter_backward<UpAdapter>(t, t.p.adapters.up, dup.columns(G - F, F), in, t.saved.up_hidden_Mr);
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
