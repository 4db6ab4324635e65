#pragma once
#include <monomorph/block/layers.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/rule/block_rules.hpp>

/// What the kind of a recipe's model makes of its blocks, and the rules that it brings.
namespace monomorph::rule {

/// Layers of the kind UnitKind::block among all layers, where they stand one behind the other; -1 where others stand
/// between them.
template <class R, class... Runs> consteval int blocks_in_a_row(Stack<Runs...>) {
  int n = 0;
  bool ended = false, interrupted = false;
  const auto look_at = [&](bool is_block, int length) {
    interrupted = interrupted || (is_block && ended);
    ended = ended || (n > 0 && !is_block);
    n += is_block ? length : 0;
  };
  (look_at(unit_kind<typename Runs::template block<R>> == UnitKind::block, Runs::length), ...);
  return interrupted ? -1 : n;
}

template <class Spec, int n_blocks, int blocks_in_a_row> struct KindKeepsBlocks {
  static constexpr bool holds = n_blocks == blocks_in_a_row;
  static consteval void explain() {
    static_assert(holds,
                  "[KIND-02] the layers of a kind of model must be the blocks, one behind the other, and around them "
                  "layers with `static constexpr monomorph::UnitKind unit_kind`, which is embedding or head; change "
                  "ModelKind<Spec>::layers or those layers (docs/rules.md#kind-02)");
  }
};
template <class First, UnitKind first, class Last, UnitKind last> struct KindHasEnds {
  static constexpr bool holds = first == UnitKind::embedding && last == UnitKind::head;
  static consteval void explain() {
    static_assert(holds,
                  "[KIND-03] the first layer of a kind of model must be of the kind embedding, as it reads the tokens, "
                  "and the last one of the kind head, as it makes the loss; change ModelKind<Spec>::layers "
                  "(docs/rules.md#kind-03)");
  }
};

/// Blocks have rules of their own, a message for each part (rule/block_rules.hpp).
template <class Layer, class R> struct KindLayerHasParts {
  static constexpr bool is_laid_out = requires {
    requires std::is_base_of_v<ParameterLayout, typename Layer::Params> && is_constexpr_layout<typename Layer::Params>;
    requires std::is_constructible_v<typename Layer::Saved, SavedPlacement, SavedPlacement, std::int64_t> ||
        std::is_constructible_v<typename Layer::Saved, SavedPlacement, SavedPlacement, std::int64_t, int>;
    requires std::is_constructible_v<typename Layer::Temporary, Layout&, std::int64_t>;
    requires std::is_arithmetic_v<decltype(Layer::matmul_flops_per_token())>;
  };
  static constexpr bool passes = requires(const LayerTensors<R>& tensors, const typename Layer::Saved& saved) {
    Layer::forward(tensors, saved);
    Layer::backward(tensors, saved);
  };
  static constexpr bool holds = is_laid_out && passes;
  static consteval void explain() {
    static_assert(holds,
                  "[KIND-04] a layer of a kind of model must have Params, Saved, Temporary, matmul_flops_per_token(), "
                  "and forward and backward of (const LayerTensors<R>&, const Saved&), as block/layer.hpp lists them "
                  "(docs/rules.md#kind-04)");
  }
};
template <class Layer, class R> consteval auto rules_of_layer_parts() {
  if constexpr (unit_kind<Layer> == UnitKind::block)
    return RuleList<>{};
  else
    return RuleList<KindLayerHasParts<Layer, R>>{};
}
template <class R, class... Runs> consteval auto kind_layer_rules_of(Stack<Runs...>) {
  return (RuleList<>{} + ... + rules_of_layer_parts<typename Runs::template block<R>, R>());
}
/// Judged with the parts of blocks.
template <class R> consteval auto kind_layer_rules() { return kind_layer_rules_of<R>(LayersOf<R>{}); }

template <class R> consteval auto kind_rules() {
  using Ends = RuleList<KindHasEnds<FirstLayer<R>, unit_kind<FirstLayer<R>>, LastLayer<R>, unit_kind<LastLayer<R>>>>;
  return RuleList<KindKeepsBlocks<SpecOf<R>, layers_of<R>.length, blocks_in_a_row<R>(LayersOf<R>{})>>{} + Ends{} +
         exported_rules<ModelKind<SpecOf<R>>, R>();
}

}  // namespace monomorph::rule
