#pragma once
#include <monomorph/block/mixture_of_experts.hpp>
#include <monomorph/model/composed_block.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/expert_products.hpp>

/// The bodies of MixtureOfExperts.
namespace monomorph {

namespace detail {

inline Routing routing_of(const RoutingSlices& slices, const View& statistics, std::int64_t tokens, std::int64_t E,
                          std::int64_t k) {
  const auto integers = [&](Slice slice) { return statistics[slice].as<std::int32_t>(); };
  return {.scores_ME = statistics[slices.scores_ME],
          .weights_Mk = statistics[slices.weights_Mk],
          .lse_M = statistics[slices.lse_M],
          .experts_Mk = integers(slices.experts_Mk),
          .rows_Mk = integers(slices.rows_Mk),
          .pairs_N = integers(slices.pairs_N),
          .counts_E = integers(slices.counts_E),
          .begins_E = integers(slices.begins_E),
          .tokens = tokens,
          .n_experts = E,
          .top_k = k};
}

/// The experts' products, of a pass or of a decoder.
template <class Part> struct ExpertProducts {
  typename Part::Queue queue;
  const typename Part::Params& p;
  UnitBuffer params;  ///< of the unit
  Routing routing;
  View rows_ND, up_NG, activated_NF;

  /// @param unit the unit's parameters or its gradients
  ExpertMatrices hidden(const UnitBuffer& unit) const {
    return {{unit[p.hidden_ExFxD[0]], unit[p.hidden_ExFxD[1]]}, Part::n_hidden};
  }
  ExpertMatrices down(const UnitBuffer& unit) const { return {{unit[p.down_ExDxF]}}; }

  void route(View in, std::int64_t capacity) const {
    constexpr MixtureSpec spec = Part::mixture;
    linear(queue, in, params[p.router_ExD], View{}, routing.scores_ME);
    choose_experts(queue, routing, spec.scores, spec.normalize, params[p.router_bias_E]);
    sort_pairs(queue, routing, capacity);
  }
  void activate() const { activate_rows(queue, Part::model.activation, up_NG, activated_NF, routing); }
  void make_up(View in) const {
    gather_rows(queue, in, routing, rows_ND);
    expert_linear(queue, rows_ND, hidden(params), up_NG, routing);
  }
  void project(View residual, View out) const {
    expert_linear(queue, activated_NF, down(params), rows_ND, routing);
    combine_rows(queue, rows_ND, routing, routing.weights_Mk, residual, out);
  }
};

template <class Part> ExpertProducts<Part> expert_products(const PartTensors<Part>& t) {
  const std::int64_t M = t.t.batch * t.t.tokens;
  return {t.queue,
          t.p,
          t.t.params,
          routing_of(t.saved.routing, t.t.statistics, M, Part::E, Part::k),
          t.activation(t.temporary.rows_ND),
          t.activation(t.saved.up_NG),
          t.activation(t.saved.activated_NF)};
}
template <class Part> ExpertProducts<Part> expert_products(const PartDecode<Part>& t) {
  return {t.queue,
          t.p,
          t.t.params,
          routing_of(t.temporary.routing, t.t.statistics, t.t.batch, Part::E, Part::k),
          t.activation(t.temporary.rows_ND),
          t.activation(t.temporary.up_NG),
          t.activation(t.temporary.activated_NF)};
}
/// The shared experts' part of the same pass.
template <class Part> PartTensors<typename Part::Shared> shared_part(const PartTensors<Part>& t) {
  return {t.t, t.p.shared, t.saved.shared, t.temporary.shared};
}

template <MixtureSpec spec> inline constexpr RouterLosses router_losses{spec.balance_loss.value, spec.z_loss.value};

}  // namespace detail

template <class R, MixtureSpec spec>
void MixtureOfExperts<R, spec>::compute(const PartTensors<MixtureOfExperts>& t, View in, Recompute what) {
  const auto experts = detail::expert_products(t);
  if (what == Recompute::block) experts.route(in, capacity(t.t.batch * t.t.tokens));
  if (t.t.counters != nullptr) add_loads(experts.queue, experts.routing, t.t.counters);
  if constexpr (has_auxiliary_loss)
    if (t.t.auxiliary_loss != nullptr)
      add_router_loss(experts.queue, experts.routing, spec.scores, detail::router_losses<spec>, t.t.auxiliary_loss);
  if (what.mlp) experts.make_up(in);
  if (what.activation) experts.activate();
  if constexpr (has_shared) Shared::compute(detail::shared_part(t), in, what);
}

template <class R, MixtureSpec spec>
void MixtureOfExperts<R, spec>::project(const PartTensors<MixtureOfExperts>& t, View residual, View out) {
  if constexpr (has_shared) {
    Shared::project(detail::shared_part(t), residual, out);
    residual = out;
  }
  detail::expert_products(t).project(residual, out);
}

/// A pair's gradient reaches its weight as the product of `activated` with its gradient, so that what an expert gave
/// need not be kept. `in` and `dout` are read before anything is written to `din`, which may be one of them.
template <class R, MixtureSpec spec>
void MixtureOfExperts<R, spec>::backward(const PartTensors<MixtureOfExperts>& t, View in, View dout, View din,
                                         bool accumulate) {
  const auto experts = detail::expert_products(t);
  const Params& p = t.p;
  const Routing& routing = experts.routing;
  const UnitBuffer params = t.t.params, gradients = t.t.gradients;
  const View rows = experts.rows_ND, up = experts.up_NG, activated = experts.activated_NF;
  const Queue queue = experts.queue;
  const View in_rows = t.activation(t.temporary.in_rows_ND), dactivated = t.activation(t.temporary.dactivated_NF);

  gather_rows(queue, dout, routing, rows);
  expert_linear_backward_input(queue, rows, experts.down(params), dactivated, routing);
  weigh_rows_backward(queue, activated, dactivated, routing);
  expert_linear_backward_weight(queue, rows, activated, experts.down(gradients), routing, t.t.accumulate);
  activate_rows_backward(queue, model.activation, up, dactivated, routing);
  const View dup = gated ? up : dactivated;
  gather_rows(queue, in, routing, in_rows);
  expert_linear_backward_weight(queue, dup, in_rows, experts.hidden(gradients), routing, t.t.accumulate);
  expert_linear_backward_input(queue, dup, experts.hidden(params), rows, routing);

  choose_experts_backward(queue, routing, spec.scores, spec.normalize, detail::router_losses<spec>, t.t.scalars);
  linear_backward_weight(t.queue, routing.scores_ME, in, t.gradient(p.router_ExD), View{}, t.t.accumulate);
  if (const View dbias = t.gradient(p.router_bias_E); dbias.present() && !t.t.accumulate) zero(t.queue, dbias);
  if constexpr (has_shared) {
    Shared::backward(detail::shared_part(t), in, dout, din, accumulate);
    accumulate = true;
  }
  linear_backward_input(t.queue, routing.scores_ME, params[p.router_ExD], din, accumulate);
  combine_rows(queue, rows, routing, View{}, din, din);
}

template <class R, MixtureSpec spec>
void MixtureOfExperts<R, spec>::decode(const PartDecode<MixtureOfExperts>& t, View in, View residual, View out) {
  const auto experts = detail::expert_products(t);
  experts.route(in, t.t.batch);
  experts.make_up(in);
  experts.activate();
  if constexpr (has_shared) {
    Shared::decode({t.t, t.p.shared, t.temporary.shared, t.cache.shared}, in, residual, out);
    residual = out;
  }
  experts.project(residual, out);
}

template <class R, MixtureSpec spec>
void MixtureOfExperts<R, spec>::update_state(Queue queue, const Params& p, const ElementUpdate& run,
                                             const std::int64_t* counters, const auto& terms) {
  balance_biases(queue, run, p.router_bias_E.offset, counters, E, spec.bias_rate, terms);
}

}  // namespace monomorph
