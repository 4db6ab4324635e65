#pragma once
#include <monomorph/block/part.hpp>
#include <monomorph/core/look_up.hpp>
#include <monomorph/policy/finetuning_policy.hpp>

/// A layer is an embedding, a block or a head: what the step passes through from the first to the last, and back. Its
/// type is a template over the recipe, or a tower of it, and has
///
/// - `Params{block}`: the tensors of its unit.
/// - `Saved{activations, statistics, M}`: what backward reads of M tokens. A layer
///   that looks at other ranks' tokens has a fourth parameter, the number of data-parallel ranks.
/// - `Temporary{layout, M}`: what else backward needs; all layers share it.
/// - `matmul_flops_per_token()`: forward, of products with parameters.
/// - `forward(t, saved)` and `backward(t, saved)`. The last layer makes the loss: in forward of an evaluation, and in
///   backward of a training pass, where its gradients are made with it.
/// - `decode(t)`, `DecodeCache` and `DecodeTemporary`, if it can extend sequences against a cache.
///
/// A last layer that makes logits has `decode`, and one that makes embeddings
///
/// - `embeddings(saved, statistics, ranks)`: those of this rank's texts, which its last pass has made.
///
/// What a layer may say besides is listed below. Embedding and head stand in this folder. Blocks, which a recipe
/// chooses and can recompute, have more to them (docs/guides/add_a_block.md).
namespace monomorph {

template <class R> struct LayerTensors;  // model/layer_tensors.hpp

/// Stands for a member that a layer does not have, such as Temporary: empty, made from any arguments.
struct Nothing {
  constexpr Nothing(auto&&...) {}
};

/// What a layer may say, or leave out; rule/layer_member_rules.hpp has what each must be.
MONOMORPH_LOOK_UPS(LookUpLayer, unit_kind, shares_first_unit, backward_reads_params, within_documents,
                   attention_flops_per_token, recomputed_flops_per_token, loss_flops_per_token, gathered_elements,
                   Attention, Tower, MlpPart, recompute, decode, DecodeTemporary, DecodeCache);
/// How a block, or a part of one, describes itself, if it does.
MONOMORPH_LOOK_UPS(LookUpDescription, describe);
/// What a block may say, and the MLP part of one.
MONOMORPH_LOOK_UPS(LookUpDeclared, n_counters, update_state, has_auxiliary_loss, idle_parameters);

/// Whether logits and embeddings, which are fp32 at least, are of a wider dtype than the one that computes: their
/// gradient is then narrowed before it goes on.
template <class R>
inline constexpr bool narrows_gradient = R::precision::compute_dtype != statistics_dtype(R::precision::compute_dtype);

inline constexpr NormNames final_norm_names{"final_norm.weight", "final_norm.bias"};

/// A layer whose parameters lie in the first layer's unit, and not in one of its own.
template <class Layer>
inline constexpr bool shares_first_unit = [] {
  if constexpr (requires { bool{Layer::shares_first_unit}; }) return bool{Layer::shares_first_unit};
  return false;
}();

/// What fine-tuning policies know a layer as.
template <class Layer>
inline constexpr UnitKind unit_kind = [] {
  if constexpr (requires { UnitKind{Layer::unit_kind}; }) return UnitKind{Layer::unit_kind};
  return UnitKind::block;
}();

/// Whether backward reads a layer's parameters; a look-up's does not.
template <class Layer>
inline constexpr bool backward_reads_params = [] {
  if constexpr (requires { bool{Layer::backward_reads_params}; }) return bool{Layer::backward_reads_params};
  return true;
}();

}  // namespace monomorph
