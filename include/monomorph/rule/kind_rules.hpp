#pragma once
#include <monomorph/block/embedding_head.hpp>
#include <monomorph/block/layers.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/kernel_sets.hpp>
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
  /// LibTorch's graphs are kept by block.
  static constexpr bool is_differentiated = needs_of<Layer>::template has<kernels::Autograd>;
  static constexpr bool holds = is_laid_out && passes && !is_differentiated;
  static consteval void explain() {
    static_assert(holds,
                  "[KIND-04] a layer of a kind of model must have Params, Saved, Temporary, matmul_flops_per_token(), "
                  "and forward and backward of (const LayerTensors<R>&, const Saved&) of its own, as block/layer.hpp "
                  "lists them (docs/rules.md#kind-04)");
  }
};
template <class Layer, class R> consteval auto rules_of_layer_parts() {
  if constexpr (unit_kind<Layer> == UnitKind::block)
    return RuleList<>{};
  else
    return RuleList<KindLayerHasParts<Layer, R>, DecodingBlockHasTemporaries<Layer, R>>{};
}
template <class R, class... Runs> consteval auto kind_layer_rules_of(Stack<Runs...>) {
  return (RuleList<>{} + ... + rules_of_layer_parts<typename Runs::template block<R>, R>());
}
/// Judged with the parts of blocks.
template <class R> consteval auto kind_layer_rules() {
  if constexpr (kind_came_first<SpecOf<R>>)
    return RuleList<>{};
  else
    return kind_layer_rules_of<R>(LayersOf<R>{});
}

/// The last layer writes what the model makes: every decoder asks it for logits, and a program for embeddings.
template <class Last, class R, ModelOutput output> struct KindTellsOutput {
  using Queue = typename device_of<R>::Queue;
  static constexpr bool decodes = output != ModelOutput::logits || requires(const DecodeTensorsOf<R>& tensors) {
    Last::decode(tensors);
    typename Last::DecodeTemporary;
  };
  static constexpr bool embeds =
      output != ModelOutput::embeddings ||
      requires(const typename Last::Saved& saved, const View& statistics, const QueuedCommunicator<Queue>& ranks) {
    requires std::is_same_v<decltype(Last::embeddings(saved, statistics, ranks)), View>;
  };
  static constexpr bool holds = decodes && embeds;
  static consteval void explain() {
    static_assert(decodes,
                  "[KIND-07] the last layer of a kind of model that makes logits must have `static void decode(const "
                  "monomorph::DecodeTensorsOf<R>&)` and `struct DecodeTemporary`, as monomorph::VocabularyHead has "
                  "(docs/rules.md#kind-07)");
    static_assert(embeds,
                  "[KIND-07] the last layer of a kind of model that makes embeddings must have `template <class Queue> "
                  "static monomorph::View embeddings(const Saved&, const monomorph::View& all_statistics, const "
                  "monomorph::QueuedCommunicator<Queue>&)`, as monomorph::EmbeddingHead has (docs/rules.md#kind-07)");
  }
};

/// A tied head is a part of the first unit: the embedding adds to the gradient that the head has made.
template <class First, class Last, bool tied_head, int sharing, bool last_shares> struct KindTiesHead {
  static constexpr bool holds = (tied_head ? 1 : 0) == sharing && tied_head == last_shares && [] {
    if constexpr (last_shares) return std::is_same_v<typename First::Params, typename Last::Params>;
    return true;
  }();
  static consteval void explain() {
    static_assert(holds,
                  "[KIND-05] tied_head of what trunk() returns must be what the layers do: the last layer, and no "
                  "other, has shares_first_unit and the Params of the first one, or no layer has; change "
                  "ModelKind<Spec>::trunk or the last layer (docs/rules.md#kind-05)");
  }
};
template <class R, class... Runs> consteval int layers_sharing_first_unit(Stack<Runs...>) {
  return (0 + ... + (shares_first_unit<typename Runs::template block<R>> ? Runs::length : 0));
}

/// The names of tensors in layers around the blocks, whose own begin with "layers.<number>.".
struct NamesAround {
  static constexpr int capacity = 4 * ParameterLayout::capacity;
  std::string_view names[capacity]{};
  int n = 0;
  bool apart = true;
  constexpr void add(const ParameterLayout& layout) {
    for (const TensorInfo& tensor : layout) {
      apart = apart && !tensor.name.starts_with("layers.") && n < capacity;
      for (int i = 0; i < n && apart; ++i) apart = names[i] != tensor.name;
      if (apart) names[n++] = tensor.name;
    }
  }
};
template <class Layer, int length> constexpr void add_names(NamesAround& around) {
  if constexpr (unit_kind<Layer> != UnitKind::block && !shares_first_unit<Layer>)
    for (int i = 0; i < length; ++i) around.add(typename Layer::Params{});
}
template <class R, class... Runs> consteval bool names_apart(Stack<Runs...>) {
  NamesAround around;
  (add_names<typename Runs::template block<R>, Runs::length>(around), ...);
  return around.apart;
}
template <class Spec, bool apart> struct KindNamesApart {
  static constexpr bool holds = apart;
  static consteval void explain() {
    static_assert(
        holds,
        "[KIND-06] each tensor of the layers around the blocks must have a name of its own, by which "
        "checkpoints know it, and that does not begin with \"layers.\"; change the Params of those layers, or "
        "the length of their Run (docs/rules.md#kind-06)");
  }
};

template <class R, class Layer, int length> consteval auto rules_around_blocks() {
  if constexpr (unit_kind<Layer> == UnitKind::block)
    return RuleList<>{};
  else
    return layout_rules_of_run<Layer, 0, length>() + exported_rules<Layer, R>();
}
template <class R, class... Runs> consteval auto layer_rules_around_blocks(Stack<Runs...>) {
  return (RuleList<>{} + ... + rules_around_blocks<R, typename Runs::template block<R>, Runs::length>());
}

/// The two kinds in the tree are held to these by tests: what they say is not judged again with every recipe.
template <class R> consteval auto rules_of_own_kind() {
  using Layers = LayersOf<R>;
  if constexpr (kind_came_first<SpecOf<R>>)
    return RuleList<>{};
  else
    return RuleList<KindKeepsBlocks<SpecOf<R>, layers_of<R>.length, blocks_in_a_row<R>(Layers{})>,
                    KindTellsOutput<LastLayer<R>, R, ModelKind<SpecOf<R>>::output>,
                    KindHasEnds<FirstLayer<R>, unit_kind<FirstLayer<R>>, LastLayer<R>, unit_kind<LastLayer<R>>>,
                    KindTiesHead<FirstLayer<R>, LastLayer<R>, trunk_of<R>.tied_head,
                                 layers_sharing_first_unit<R>(Layers{}), shares_first_unit<LastLayer<R>>>,
                    KindNamesApart<SpecOf<R>, names_apart<R>(Layers{})>>{} +
           layer_rules_around_blocks<R>(Layers{});
}

template <class R> consteval auto kind_rules() {
  return rules_of_own_kind<R>() + exported_rules<ModelKind<SpecOf<R>>, R>();
}

}  // namespace monomorph::rule
