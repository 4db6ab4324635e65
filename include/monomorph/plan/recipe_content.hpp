#pragma once
#include <monomorph/block/low_rank_adapters.hpp>
#include <monomorph/plan/attention.hpp>
#include <monomorph/plan/parameter_groups.hpp>
#include <monomorph/plan/rotary.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/policy/optimizer_policy.hpp>
#include <monomorph/policy/precision_policy.hpp>
#include <monomorph/recipe/members.hpp>

/// What types of a recipe say, for its fingerprint: a policy or a block may change and keep its name. `hash` has add().
namespace monomorph::plan::detail {

template <class R> constexpr void add_sharding(auto& hash) {
  using Sharding = typename R::sharding;
  hash.add(bool{Sharding::splits_parameters}, bool{Sharding::splits_gradients});
  for (const int dp : {1, 2, 4, 8, 16, 32, 64}) hash.add(Sharding::optimizer_shards(dp));
  if (parameter_space<Sharding> != MemorySpace::device) hash.add("parameters", parameter_space<Sharding>);
}

template <class Optimizer> constexpr void add_optimizer(auto& hash) {
  hash.add(name_of(state_dtype<Optimizer>(DType::fp32)));
  hash.add(state_space<Optimizer>);
  constexpr const Optimizer* no_object = nullptr;
  for (const ParameterClass parameter_class : all_parameter_classes) {
    hash.add(Optimizer::scope(parameter_class), Optimizer::state(parameter_class).n);
    for (const std::string_view name : Optimizer::state(parameter_class).names) hash.add(name);
    if constexpr (requires { weight_decays(no_object, parameter_class); })  // of optim/weight_decay.hpp
      hash.add(weight_decays(no_object, parameter_class));
  }
}

/// Optimisers without groups add nothing, so that recipes from the time when none had them keep their fingerprints.
template <class R> constexpr void add_groups(auto& hash) {
  if constexpr (has_groups<R>)
    for (const ParameterGroup& group : R::optimizer::groups) {
      hash.add("group", group.parameters.pattern);
      hash.add(group.parameters.parameter_class, group.lr_multiplier, group.weight_decay_multiplier, group.layer_decay);
    }
}

/// Units that are trained add nothing, so that recipes from the time when all were keep their fingerprints.
template <class R> constexpr void add_frozen(auto& hash) {
  if (n_frozen < R >> 0) hash.add("frozen", n_frozen<R>);
  for (int unit = 0; unit < n_units<R>; ++unit)
    if (!trains<R>(unit)) hash.add(unit);
  if constexpr (freezes_tensors<R>)
    for (int unit = 0; unit < n_units<R>; ++unit)
      for (const TensorInfo& tensor : stored_layout<R>(n_units<R> + unit)) hash.add("frozen", unit, tensor.index);
}

/// Likewise what is kept in NF4.
template <class R> constexpr void add_quantized(auto& hash) {
  if constexpr (quantizes<R>)
    for (int unit = 0; unit < n_units<R>; ++unit)
      for (const TensorInfo& tensor : packed_unit<R>(unit).unpacked) hash.add("NF4", unit, tensor.index);
}

/// Recipes without adapters add nothing, so that those from the time when there were none keep their fingerprints.
template <class R> constexpr void add_adapters(auto& hash) {
  if constexpr (HasAdapters<R>) hash.add("adapters", LowRankSpec{finetuning_of<R>::low_rank});
}

/// Recipes without products in fp8 add nothing, so that those from the time when there were none keep their
/// fingerprints. What blocks keep of their maxima is state.
template <class R> constexpr void add_amax_history(auto& hash) {
  if constexpr (scales_products<typename R::precision>) hash.add("amax history", amax_history<typename R::precision>());
}

/// Recipes all of whose layers turn by the model's angles add nothing, so that those from the time when all did keep
/// their fingerprints.
template <class R> constexpr void add_rotaries(auto& hash) {
  if constexpr (n_rotaries < R >> 1)
    for (int layer = 0; layer < n_layers<R>; ++layer)
      if (const int i = rotary_of_layer<R>(layer); i > 0) hash.add("rotary", layer, rotary_spec<R>(i));
}

/// The causal mask adds nothing, so that recipes from the time when there was no other keep their fingerprints.
constexpr void add_mask(auto& hash, const AttentionMask& mask) {
  if (mask != AttentionMask{}) hash.add(mask.before, mask.after, mask.prefix);
}

/// The three that there were first have the numbers of that time, so that recipes keep their fingerprints.
constexpr std::uint64_t fingerprint_number(Recompute recompute) {
  if (recompute == Recompute::nothing) return 0;
  if (recompute == Recompute::cheap) return 1;
  return recompute == Recompute::block ? 2 : std::uint64_t{all_choices} + number_of(recompute);
}

template <class R> constexpr void add_policies(auto& hash) {
  using Precision = typename R::precision;
  add_sharding<R>(hash);
  hash.add(DType{Precision::compute_dtype}, DType{Precision::gradient_dtype}, DType{Precision::reduce_dtype},
           DType{Precision::master_dtype});
  if constexpr (scales_products<Precision>) hash.add("scale margin", scale_margin<Precision>());
  if constexpr (rounds_logits<Precision>) hash.add("logits dtype", logits_dtype<Precision>());
  for (int block = 0; block < n_blocks<R>; ++block)
    hash.add(fingerprint_number(R::checkpointing::recompute(block)), offloads<typename R::checkpointing>(block));
  add_optimizer<typename R::optimizer>(hash);
  add_groups<R>(hash);
  hash.add(bool{attention_of<R>::within_documents});
  for_each_mask<R>([&](const AttentionMask& mask) { add_mask(hash, mask); });
}

constexpr void add_initializers(auto& hash, const ParameterLayout& layout) {
  for (const TensorInfo& tensor : layout) {
    const auto& [mean, std, cutoff, half_width] = tensor.initializer;
    hash.add(mean, std, cutoff);
    if (half_width > 0) hash.add("half width", half_width);  // recipes without one keep their fingerprints
  }
}

/// Tensors of one matrix say nothing of how many they are, so that recipes from the time when all were keep their
/// fingerprints.
constexpr void add_unit(auto& hash, const ParameterLayout& layout) {
  hash.add(0, layout.size());
  for (const TensorInfo& tensor : layout) {
    hash.add(tensor.name);
    hash.add(tensor.slice.shape.rows, tensor.slice.shape.cols, tensor.parameter_class);
    if (tensor.matrices != 1) hash.add("matrices", tensor.matrices);
  }
  add_initializers(hash, layout);
}

/// The tensors of every unit. Blocks of a run have the same ones, and may start them differently.
template <class R> constexpr void add_units(auto& hash) {
  int layer = 0;
  boost::hana::for_each(LayersOf<R>::runs, [&](auto run) {
    using Layer = typename decltype(run)::template block<R>;
    const auto params = [&](int i) { return typename Layer::Params{block_of_layer<R>(layer + i)}; };
    if (!shares_first_unit<Layer>) {
      add_unit(hash, params(0));
      for (int i = 1; i < run.length; ++i) add_initializers(hash, params(i));
    }
    layer += run.length;
  });
}

}  // namespace monomorph::plan::detail
