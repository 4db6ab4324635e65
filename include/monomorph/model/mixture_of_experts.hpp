#pragma once
#include <monomorph/block/mixture_of_experts.hpp>
#include <monomorph/model/activate.hpp>
#include <monomorph/model/composed_block.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/routing.hpp>
#include <monomorph/runtime/memory/host_copy.hpp>

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
  static constexpr std::int64_t F = Part::F, D = Part::D;
  typename Part::Queue queue;
  const typename Part::Params& p;
  View params;  ///< flat, of the unit
  Routing routing;
  View rows_ND, up_NG, activated_NF;

  /// An expert's matrix among all of them.
  static Slice of(const Slice& stacked, std::int64_t expert) {
    const Shape shape{stacked.shape.rows / Part::E, stacked.shape.cols};
    return {stacked.offset + expert * shape.elements(), shape};
  }
  /// Where each expert's rows begin, and the last one's end: how many rows a product has is for the host to know.
  const std::int32_t* begins_on_host(HostBuffer& buffer) const {
    const View begins{reinterpret_cast<std::byte*>(routing.begins_E), DType::fp32, {1, Part::E + 1}};  // of their size
    return copy_to_host(queue, begins, buffer).template as<const std::int32_t>();
  }
  /// The rows that there are.
  View used(const View& rows) const {
    HostBuffer buffer;
    return rows.rows(0, begins_on_host(buffer)[Part::E]);
  }
  /// Of the hidden layer's gate (the first of two), or of what it is before the activation.
  static View hidden(const View& rows_NG, int i) { return rows_NG.columns(i * F, F); }
  /// Calls f(expert, its rows of a view…).
  void for_experts(auto&& f, const auto&... views) const {
    HostBuffer buffer;
    const std::int32_t* const begins = begins_on_host(buffer);
    for (std::int64_t e = 0; e < Part::E; ++e) {
      const std::int64_t first = begins[e], n = begins[e + 1] - first;
      f(e, views.rows(first, n)...);
    }
  }

  void route(View in, std::int64_t capacity) const {
    constexpr MixtureSpec spec = Part::mixture;
    linear(queue, in, params[p.router_ExD], View{}, routing.scores_ME);
    choose_experts(queue, routing, spec.scores, spec.normalize, params[p.router_bias_E]);
    sort_pairs(queue, routing, capacity);
  }
  void activate() const { model::activate<Part::model.activation>(queue, used(up_NG), used(activated_NF)); }
  void compute(View in) const {
    gather_rows(queue, in, routing, rows_ND);
    for_experts(
        [&](std::int64_t e, View rows, View up) {
          for (int i = 0; i < Part::n_hidden; ++i)
            linear(queue, rows, params[of(p.hidden_ExFxD[i], e)], View{}, hidden(up, i));
        },
        rows_ND, up_NG);
    activate();
  }
  void project(View residual, View out) const {
    for_experts([&](std::int64_t e, View activated,
                    View rows) { linear(queue, activated, params[of(p.down_ExDxF, e)], View{}, rows); },
                activated_NF, rows_ND);
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
void MixtureOfExperts<R, spec>::compute(const PartTensors<MixtureOfExperts>& t, View in) {
  const auto experts = detail::expert_products(t);
  experts.route(in, capacity(t.t.batch * t.t.tokens));
  if (t.t.counters != nullptr) add_loads(experts.queue, experts.routing, t.t.counters);
  if constexpr (has_auxiliary_loss)
    if (t.t.auxiliary_loss != nullptr)
      add_router_loss(experts.queue, experts.routing, spec.scores, detail::router_losses<spec>, t.t.auxiliary_loss);
  experts.compute(in);
  if constexpr (has_shared) Shared::compute(detail::shared_part(t), in);
}

template <class R, MixtureSpec spec>
void MixtureOfExperts<R, spec>::recompute_cheap(const PartTensors<MixtureOfExperts>& t) {
  detail::expert_products(t).activate();
  if constexpr (has_shared) Shared::recompute_cheap(detail::shared_part(t));
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
  const View params = t.t.params, rows = experts.rows_ND, up = experts.up_NG, activated = experts.activated_NF;
  const Queue queue = experts.queue;
  const View in_rows = t.activation(t.temporary.in_rows_ND), dactivated = t.activation(t.temporary.dactivated_NF);
  const auto backward_weight = [&t](View dy, View x, View dw) {
    if (x.shape.rows > 0)
      linear_backward_weight(t.queue, dy, x, dw, View{}, t.t.accumulate);
    else if (dw.present() && !t.t.accumulate)
      zero(t.queue, dw);  // no token came to this expert
  };

  gather_rows(queue, dout, routing, rows);
  experts.for_experts([&](std::int64_t e, View drows,
                          View da) { linear_backward_input(t.queue, drows, params[experts.of(p.down_ExDxF, e)], da); },
                      rows, dactivated);
  weigh_rows_backward(queue, activated, dactivated, routing);
  experts.for_experts([&](std::int64_t e, View drows,
                          View a) { backward_weight(drows, a, t.gradient(experts.of(p.down_ExDxF, e))); },
                      rows, activated);
  model::activate_backward<model.activation>(t.queue, experts.used(up), experts.used(dactivated));
  const View dup = gated ? up : dactivated;
  gather_rows(queue, in, routing, in_rows);
  experts.for_experts(
      [&](std::int64_t e, View dup_rows, View x, View drows) {
        for (int i = 0; i < n_hidden; ++i) {
          backward_weight(experts.hidden(dup_rows, i), x, t.gradient(experts.of(p.hidden_ExFxD[i], e)));
          linear_backward_input(t.queue, experts.hidden(dup_rows, i), params[experts.of(p.hidden_ExFxD[i], e)], drows,
                                i > 0);
        }
      },
      dup, in_rows, rows);

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
  experts.compute(in);
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
