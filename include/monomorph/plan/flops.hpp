#pragma once
#include <monomorph/plan/teacher.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph::plan {

/// Forward, of a block's attention scores and values: what it says in `attention_flops_per_token()`, or none.
template <class Block> constexpr double attention_flops_per_token() {
  if constexpr (requires { Block::attention_flops_per_token(); })
    return static_cast<double>(Block::attention_flops_per_token());
  else
    return 0;
}

/// Parameters of a block that a token meets: all but those of which it says so in `idle_parameters()`.
template <class Block> constexpr std::int64_t active_parameters() {
  const std::int64_t all = typename Block::Params{}.parameters();
  if constexpr (requires { Block::idle_parameters(); })
    return all - Block::idle_parameters();
  else
    return all;
}

/// Floating-point operations per trained token, forward and backward, in the two definitions of the field. Backward
/// makes gradients of inputs down to the lowest unit that is trained, and of parameters in those that are.
struct FlopsPerToken {
  /// 6 N + 12 L D T, N the parameters that a token meets, all without experts, L the blocks with attention (Chowdhery
  /// et al. 2022, appendix B; Modalities).
  double palm = 0;
  /// The matrix products as they are: no embedding look-up, the head counted.
  double exact = 0;
  /// The same, and what activation checkpointing computes again: what the hardware does.
  double hardware = 0;
};

/// Whether parameters of a class are factors of products, and not vectors.
constexpr bool is_matrix(ParameterClass parameter_class) {
  using enum ParameterClass;
  return parameter_class == linear || parameter_class == embedding || parameter_class == head;
}

/// Of the products with a layer's parameters, those whose gradients backward makes: all, none, or where single tensors
/// are frozen, as many as the trained matrices have of the elements of all. A tied head multiplies by the first table.
template <class R> constexpr double trained_share(int layer) {
  const int unit = unit_of_layer<R>(layer);
  if constexpr (freezes_tensors<R>) {
    const ParameterLayout layout = unit_layout<R>(unit);
    if (unit != layer) return trains_tensor<R>(unit, layout[0]) ? 1 : 0;
    std::int64_t trained = 0, all = 0;
    for (const TensorInfo& tensor : layout) {
      if (!is_matrix(tensor.parameter_class)) continue;
      all += tensor.slice.shape.elements();
      if (trains_tensor<R>(unit, tensor)) trained += tensor.slice.shape.elements();
    }
    if (all > 0) return static_cast<double>(trained) / static_cast<double>(all);
  }
  return trains<R>(unit) ? 1 : 0;
}

/// Of a block of which so much is computed again: what it says in `recomputed_flops_per_token(again)`. One that says
/// nothing computes forward again, or none of its products.
template <class Block> constexpr double recomputed_flops_per_token(Recompute again) {
  if constexpr (requires { Block::recomputed_flops_per_token(again); })
    return static_cast<double>(Block::recomputed_flops_per_token(again));
  else if (again != Recompute::block)
    return 0;
  else
    return static_cast<double>(Block::matmul_flops_per_token()) + attention_flops_per_token<Block>();
}

/// How often a layer computes as much as in forward: once more for gradients of inputs, once more for those of
/// parameters. A tied head has backward begin in the first layer's unit, even if that is frozen.
template <class R> constexpr double passes_with_parameters(int layer) {
  const bool reached = backward_reaches<R>(layer) || (layer == 0 && ties_units<R>);
  return 1 + (reached ? 1 : 0) + trained_share<R>(layer);
}
/// Attention multiplies inputs alone, and backward has two products for each.
template <class R> constexpr int passes_of_attention(int layer) { return backward_reaches<R>(layer) ? 3 : 1; }

/// Of what makes the loss, if that has products of its own: those of comparisons, forward and backward.
template <class Layer> constexpr double loss_flops_per_token(std::int64_t micro_batch, int ranks) {
  if constexpr (requires { Layer::loss_flops_per_token(micro_batch, ranks); })
    return Layer::loss_flops_per_token(micro_batch, ranks);
  else
    return 0;
}

/// Adds those of a model that goes forward alone.
template <class R> constexpr void add_forward(FlopsPerToken& flops) {
  const double width_and_tokens =
      static_cast<double>(trunk_of<R>.d_model.value) * static_cast<double>(trunk_of<R>.context_length.value);
  boost::hana::for_each(LayersOf<R>::runs, [&](auto run) {
    using Layer = typename decltype(run)::template block<R>;
    const double attention = attention_flops_per_token<Layer>();
    if (!shares_first_unit<Layer>) flops.palm += 2.0 * run.length * static_cast<double>(active_parameters<Layer>());
    if (attention > 0) flops.palm += 4.0 * run.length * width_and_tokens;
    flops.exact += run.length * (static_cast<double>(Layer::matmul_flops_per_token()) + attention);
  });
}

/// @param micro_batch samples of one rank, which an objective over embeddings compares with those of all ranks
template <class R> constexpr FlopsPerToken flops_per_token(std::int64_t micro_batch = 1, int ranks = 1) {
  const double D = static_cast<double>(trunk_of<R>.d_model.value),
               T = static_cast<double>(trunk_of<R>.context_length.value);
  FlopsPerToken flops;
  int layer = 0;
  boost::hana::for_each(LayersOf<R>::runs, [&](auto run) {
    using Layer = typename decltype(run)::template block<R>;
    const auto parameters = static_cast<double>(shares_first_unit<Layer> ? 0 : active_parameters<Layer>()),
               products = static_cast<double>(Layer::matmul_flops_per_token());
    const double attention = attention_flops_per_token<Layer>();
    for (int i = 0; i < run.length; ++i, ++layer) {
      flops.palm += 2.0 * passes_with_parameters<R>(layer) * parameters;
      if (attention > 0) flops.palm += 4.0 * passes_of_attention<R>(layer) * D * T;
      flops.exact += passes_with_parameters<R>(layer) * products + passes_of_attention<R>(layer) * attention;
      if (is_block<R>(layer) && backward_reaches<R>(layer))
        flops.hardware += recomputed_flops_per_token<Layer>(R::checkpointing::recompute(block_of_layer<R>(layer)));
    }
    flops.exact += loss_flops_per_token<Layer>(micro_batch, ranks);
  });
  if constexpr (has_teacher<objective_of<R>>) add_forward<TeacherOf<R>>(flops);
  flops.hardware += flops.exact;
  return flops;
}

}  // namespace monomorph::plan
