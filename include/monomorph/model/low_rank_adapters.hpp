#pragma once
#include <monomorph/block/low_rank_adapters.hpp>
#include <monomorph/model/part_tensors.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>

/// The bodies of LowRankAdapter: what a part calls around each of its products. Of an adapter that is not present
/// nothing is compiled.
namespace monomorph::model {

namespace detail {

template <class Adapter> DropoutKey adapter_key(const auto& t) {
  return dropout_key(t.t, Adapter::site, Adapter::spec.dropout);
}
/// The begin of the room for what is dropped, as wide as x.
inline View dropped_like(const auto& t, View x) {
  View room = t.activation(t.temporary.dropped_M);
  return room.reshaped({x.shape.rows, x.shape.cols});
}
/// What A reads in a pass that may be one of training.
template <class Adapter> View adapter_input(const auto& t, View x) {
  if constexpr (!Adapter::drops) return x;
  const View dropped = dropped_like(t, x);
  dropout(t.queue, x, dropped, adapter_key<Adapter>(t));
  return dropped;
}
/// h = scale · h.
template <class Adapter> void scale_hidden(auto queue, View h) {
  if constexpr (constexpr double by = low_rank_scale(Adapter::spec); by != 1) scale(queue, h, by, h);
}
template <class Adapter> void make_hidden(const auto& t, const typename Adapter::Params& p, View read, View h) {
  linear(t.queue, read, t.param(p.a_rxI), View{}, h);
  scale_hidden<Adapter>(t.queue, h);
}

}  // namespace detail

/// h = scale · drop(x) Aᵀ.
template <class Adapter> void adapter_compute(const auto& t, const typename Adapter::Params& p, View x, Slice h) {
  if constexpr (Adapter::present)
    detail::make_hidden<Adapter>(t, p, detail::adapter_input<Adapter>(t, x), t.activation(h));
}

/// y += h Bᵀ.
template <class Adapter> void adapter_add(const auto& t, const typename Adapter::Params& p, Slice h, View y) {
  if constexpr (Adapter::present) linear_add(t.queue, t.activation(h), t.param(p.b_Oxr), View{}, y, y);
}

/// Both, for new tokens of sequences, where nothing is dropped.
template <class Adapter> void adapter_decode(const auto& t, const typename Adapter::Params& p, View x, View y) {
  if constexpr (Adapter::present) {
    const View h = t.activation(t.temporary.hidden_Br);
    detail::make_hidden<Adapter>(t, p, x, h);
    linear_add(t.queue, h, t.param(p.b_Oxr), View{}, y, y);
  }
}

/// Gradients of A and B; that of h takes its place.   @param x as adapter_compute read it
template <class Adapter>
void adapter_backward(const auto& t, const typename Adapter::Params& p, View dy, View x, Slice h_Mr) {
  if constexpr (Adapter::present) {
    const View h = t.activation(h_Mr);
    linear_backward_weight(t.queue, dy, h, t.gradient(p.b_Oxr), View{}, t.t.accumulate);
    linear_backward_input(t.queue, dy, t.param(p.b_Oxr), h);
    detail::scale_hidden<Adapter>(t.queue, h);
    linear_backward_weight(t.queue, h, detail::adapter_input<Adapter>(t, x), t.gradient(p.a_rxI), View{},
                           t.t.accumulate);
  }
}

/// dx += the gradient of x by way of the adapter, behind adapter_backward.
template <class Adapter>
void adapter_backward_input(const auto& t, const typename Adapter::Params& p, Slice dh_Mr, View dx) {
  if constexpr (Adapter::drops) {
    const View ddropped = detail::dropped_like(t, dx);
    linear_backward_input(t.queue, t.activation(dh_Mr), t.param(p.a_rxI), ddropped);
    dropout_add(t.queue, ddropped, dx, dx, detail::adapter_key<Adapter>(t));
  } else if constexpr (Adapter::present) {
    linear_backward_input(t.queue, t.activation(dh_Mr), t.param(p.a_rxI), dx, true);
  }
}

}  // namespace monomorph::model
