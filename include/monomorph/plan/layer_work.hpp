#pragma once
#include <monomorph/plan/flops.hpp>
#include <monomorph/plan/traffic.hpp>
#include <monomorph/plan/update_runs.hpp>

namespace monomorph::plan {

/// What a layer costs, as values: what a prediction of a step's time needs of the plan.
struct LayerWork {
  UnitKind kind{};
  std::int64_t unit_elements = 0;      ///< of the layer's own unit; 0 if it uses that of the first layer
  double products = 0, attention = 0;  ///< forward, FLOPs per token
  double passes_of_products = 0;       ///< as much as in forward, forward included
  int passes_of_attention = 0;         ///< likewise
  double dear = 0, cheap = 0;          ///< elements per token that backward reads, by what computing them again takes
  TransformWork transform{};           ///< of the update of its own unit
  bool needs_whole_gradients = false;  ///< whether that update transforms matrices, so that ranks need whole ones
  bool is_trained = false;             ///< its unit has gradients and an update
  bool is_reached = false;             ///< by backward
  bool is_resident = false;            ///< the first layer and the last one share its unit
  bool gathered_for_backward = false;
};

template <class R> constexpr LayerWork layer_work(int layer) {
  const int unit = unit_of_layer<R>(layer);
  LayerWork work{.unit_elements = unit == layer ? unit_layout<R>(unit).elements : 0,
                 .passes_of_products = passes_with_parameters<R>(layer),
                 .passes_of_attention = passes_of_attention<R>(layer),
                 .transform = unit == layer ? transform_work<R>(unit) : TransformWork{},
                 .needs_whole_gradients = unit == layer && transforms<R>(unit),
                 .is_trained = trains<R>(unit),
                 .is_reached = backward_reaches<R>(layer),
                 .is_resident = Shards<R>::resident(unit),
                 .gathered_for_backward = gathered_for_backward<R>(unit)};
  with_layer<R>(layer, [&](auto l) {
    using Layer = decltype(l);
    work.kind = unit_kind<Layer>;
    work.products = static_cast<double>(Layer::matmul_flops_per_token());
    work.attention = attention_flops_per_token<Layer>();
    const std::int64_t n_tokens = trunk_of<R>.context_length;
    Layout dear, cheap, statistics;
    place_saved<Layer>({dear, cheap, Recompute::cheap}, {statistics, statistics, Recompute::cheap}, n_tokens, 1);
    work.dear = static_cast<double>(dear.elements) / static_cast<double>(n_tokens);
    work.cheap = static_cast<double>(cheap.elements) / static_cast<double>(n_tokens);
  });
  return work;
}

}  // namespace monomorph::plan
