#pragma once
#include <monomorph/block/vocabulary_head.hpp>
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
  /// The same, with what activation checkpointing computes again and with the rows that pad the vocabulary: what the
  /// hardware does. Of attention neither has what only its kernels know: scores that backward computes again, and pairs
  /// that a tile has besides those that are seen.
  double hardware = 0;
};

/// Whether parameters of a class are factors of products, and not vectors.
constexpr bool is_matrix(ParameterClass parameter_class) {
  using enum ParameterClass;
  return parameter_class == linear || parameter_class == embedding || parameter_class == head;
}

/// Of a layer's matrices that lie one below the other, as those of experts do, the elements that a token meets.
template <class R> constexpr double met_share_of_stacked(int layer) {
  std::int64_t stacked = 0, idle = 0;
  for (const TensorInfo& tensor : unit_layout<R>(layer))
    if (tensor.matrices > 1) stacked += tensor.slice.shape.elements();
  with_layer<R>(layer, [&](auto l) {
    using Layer = decltype(l);
    idle = typename Layer::Params{}.parameters() - active_parameters<Layer>();
  });
  return stacked > 0 ? 1 - static_cast<double>(idle) / static_cast<double>(stacked) : 1;
}

/// Of the products with a layer's parameters, those whose gradients backward makes: all, none, or where single tensors
/// are frozen, as many as the trained matrices have of the elements of all that a token meets. A tied head multiplies
/// by the first table.
template <class R> constexpr double trained_share(int layer) {
  const int unit = unit_of_layer<R>(layer);
  if constexpr (freezes_tensors<R>) {
    const ParameterLayout layout = unit_layout<R>(unit);
    if (unit != layer) return trains_tensor<R>(unit, layout[0]) ? 1 : 0;
    const double met_of_stacked = met_share_of_stacked<R>(layer);
    double trained = 0, all = 0;
    for (const TensorInfo& tensor : layout) {
      if (!is_matrix(tensor.parameter_class)) continue;
      const double met =
          (tensor.matrices > 1 ? met_of_stacked : 1) * static_cast<double>(tensor.slice.shape.elements());
      all += met;
      if (trains_tensor<R>(unit, tensor)) trained += met;
    }
    if (all > 0) return trained / all;
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

/// FLOPs of the loss itself, forward and backward, where it has products: those that compare embeddings.
template <class Layer> constexpr double loss_flops_per_token(std::int64_t micro_batch, int ranks) {
  if constexpr (requires { Layer::loss_flops_per_token(micro_batch, ranks); })
    return Layer::loss_flops_per_token(micro_batch, ranks);
  else
    return 0;
}

/// Of a head over the vocabulary, those of the rows that only pad its table, in forward.
template <class R, class Layer> constexpr double padding_flops_per_token() {
  if constexpr (std::is_base_of_v<VocabularyHead<R>, Layer>)
    return 2.0 * static_cast<double>((trunk_of<R>.padded_vocab() - trunk_of<R>.vocab_size) * trunk_of<R>.d_model);
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
    flops.hardware += padding_flops_per_token<R, Layer>();
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
    const double attention = attention_flops_per_token<Layer>(), padding = padding_flops_per_token<R, Layer>(),
                 of_loss = loss_flops_per_token<Layer>(micro_batch, ranks);
    for (int i = 0; i < run.length; ++i, ++layer) {
      flops.palm += 2.0 * passes_with_parameters<R>(layer) * parameters;
      if (attention > 0) flops.palm += 4.0 * passes_of_attention<R>(layer) * D * T;
      flops.exact += passes_with_parameters<R>(layer) * products + passes_of_attention<R>(layer) * attention;
      flops.hardware += passes_with_parameters<R>(layer) * padding;
      if (is_block<R>(layer) && backward_reaches<R>(layer))
        flops.hardware += recomputed_flops_per_token<Layer>(R::checkpointing::recompute(block_of_layer<R>(layer)));
    }
    flops.exact += of_loss;
    if (of_loss > 0) flops.hardware += padding;  // the logits that are made a second time are of all rows, too
  });
  if constexpr (has_teacher<objective_of<R>>) add_forward<TeacherOf<R>>(flops);
  flops.hardware += flops.exact;
  return flops;
}

}  // namespace monomorph::plan
