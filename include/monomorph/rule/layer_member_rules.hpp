#pragma once
#include <monomorph/block/layers.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/attention_policy.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/rule/part_rules.hpp>
#include <type_traits>

namespace at {
class Tensor;  // ATen/core/Tensor.h
}
namespace monomorph {
class AutogradInput;  // model/autograd_block.hpp
}

/// Rules about members that a layer, or a part of a block, may leave out (block/layer.hpp, block/part.hpp). One that is
/// there and is not what its readers ask for would be ignored in silence. They are judged before readers look.
namespace monomorph::rule {

/// P has a static function of these arguments that the compiler can call and whose result it knows.
#define MONOMORPH_HAS_NUMBER(...)                            \
  requires {                                                 \
    requires std::is_arithmetic_v<decltype(P::__VA_ARGS__)>; \
    typename Constant<(P::__VA_ARGS__ > 0)>;                 \
  }

/// Stands for what `describe` is given (train/describe/block_features.hpp).
struct AnyFeatures {
  void add(const auto&... parts);
  void add_size(std::string_view name, std::int64_t size, std::int64_t of_model);
};
template <class P, class R> struct DescriptionFits {
  static constexpr bool holds = !LookUpDescription::has_describe<P> || requires(AnyFeatures to) {
    P::template describe<R>(to);
  };
  static consteval void explain() {
    static_assert(holds,
                  "[LAYER-17] describe of a block or of its part, if it has one, must be `template <class Recipe> "
                  "static void describe(auto& to)`: phrases that tell it apart (docs/rules.md#layer-17)");
  }
};

/// What blocks and their MLP parts declare for a step.
template <class P> struct DeclaredMembersFit {
  using Look = LookUpDeclared;
  static constexpr bool n_counters = !Look::has_n_counters<P> || MONOMORPH_HAS_CONSTANT(int, n_counters);
  static constexpr bool update_state = [] {
    if constexpr (Look::has_n_counters<P> && n_counters) return P::n_counters == 0 || Look::has_update_state<P>;
    return true;
  }();
  static constexpr bool counts = !Look::has_update_state<P> || Look::has_n_counters<P>;
  static constexpr bool has_auxiliary_loss =
      !Look::has_has_auxiliary_loss<P> || MONOMORPH_HAS_CONSTANT(bool, has_auxiliary_loss);
  static constexpr bool idle_parameters = !Look::has_idle_parameters<P> || MONOMORPH_HAS_NUMBER(idle_parameters());
  static constexpr bool holds = n_counters && update_state && counts && has_auxiliary_loss && idle_parameters;
  /// Said of one without it, and below the firewall of one that cannot be called.
  template <bool holds> static consteval void explain_update_state() {
    static_assert(
        holds,
        "[LAYER-17] a block or MLP part that has n_counters must have `static void update_state(queue, const "
        "auto& run, const std::int64_t* counters, const auto& terms)`, which is given the sums; that of an MLP "
        "part is given its Params behind the queue (docs/rules.md#layer-17)");
  }
  static consteval void explain() {
    static_assert(n_counters,
                  "[LAYER-17] n_counters of a block or its MLP part, if it has one, must be `static constexpr int "
                  "n_counters`: integers that it counts in a step (docs/rules.md#layer-17)");
    explain_update_state<update_state>();
    static_assert(counts,
                  "[LAYER-17] a block or MLP part that has update_state must have `static constexpr int n_counters`, "
                  "too: what it counts in a step (docs/rules.md#layer-17)");
    static_assert(has_auxiliary_loss,
                  "[LAYER-17] has_auxiliary_loss of a block or its MLP part, if it has one, must be `static constexpr "
                  "bool has_auxiliary_loss`: forward adds a loss of its own (docs/rules.md#layer-17)");
    static_assert(idle_parameters,
                  "[LAYER-17] idle_parameters of a block or its MLP part, if it has one, must be `static constexpr "
                  "std::int64_t idle_parameters()`: those that a token does not meet (docs/rules.md#layer-17)");
  }
};

/// What a layer says to the plan and to the rules.
template <class P, class R> struct LayerMembersFit {
  using Look = LookUpLayer;
  static constexpr bool is_base = !std::is_final_v<P>;
  static constexpr bool unit_kind = !Look::has_unit_kind<P> || MONOMORPH_HAS_CONSTANT(UnitKind, unit_kind);
  static constexpr bool shares_first_unit =
      !Look::has_shares_first_unit<P> || MONOMORPH_HAS_CONSTANT(bool, shares_first_unit);
  static constexpr bool backward_reads_params =
      !Look::has_backward_reads_params<P> || MONOMORPH_HAS_CONSTANT(bool, backward_reads_params);
  static constexpr bool within_documents =
      !Look::has_within_documents<P> || MONOMORPH_HAS_CONSTANT(bool, within_documents);
  /// Of a block that LibTorch differentiates, which says that it needs what that needs.
  static constexpr bool compute = [] {
    if constexpr (requires { requires needs_of<P>::template has<kernels::Autograd>; }) return requires {
        static_cast<at::Tensor (*)(const AutogradInput&)>(&P::compute);
      };
    return true;
  }();
  static constexpr bool attention_flops =
      !Look::has_attention_flops_per_token<P> || MONOMORPH_HAS_NUMBER(attention_flops_per_token());
  static constexpr bool recomputed_flops =
      !Look::has_recomputed_flops_per_token<P> || MONOMORPH_HAS_NUMBER(recomputed_flops_per_token(Recompute{}));
  static constexpr bool loss_flops =
      !Look::has_loss_flops_per_token<P> || MONOMORPH_HAS_NUMBER(loss_flops_per_token(std::int64_t{1}, 1));
  static constexpr bool gathered_elements =
      !Look::has_gathered_elements<P> || MONOMORPH_HAS_NUMBER(gathered_elements(std::int64_t{1}));
  static constexpr bool attention = !Look::has_Attention<P> || requires {
    requires AttentionPolicy<typename P::Attention>;
  };
  static constexpr bool tower = !Look::has_Tower<P> || requires { requires IsTower<typename P::Tower>; };
  static constexpr bool mlp_part = !Look::has_MlpPart<P> || requires {
    typename P::Tower;
    requires std::is_class_v<typename P::MlpPart>;
    requires MONOMORPH_HAS_CONSTANT(BlockOrder, block_order);
  };
  /// Blocks must have it; that is another rule.
  static constexpr bool recompute = [] {
    if constexpr (unit_kind && requires { typename P::Saved; })
      if constexpr (monomorph::unit_kind<P> != UnitKind::block)
        return !Look::has_recompute<P> || requires(const LayerTensors<R>& t, const typename P::Saved& saved) {
          P::recompute(t, saved);
        };
    return true;
  }();
  /// One whose tokens see those behind them may have a `decode` that cannot be called.
  static constexpr bool decode = [] {
    if constexpr (Look::has_Attention<P> && attention)
      if (P::Attention::mask.looks_ahead()) return true;
    return !Look::has_decode<P> || requires(const DecodeTensorsOf<R>& t) { P::decode(t); };
  }();
  static constexpr bool holds = is_base && unit_kind && shares_first_unit && backward_reads_params &&
                                within_documents && compute && attention_flops && recomputed_flops && loss_flops &&
                                gathered_elements && attention && tower && mlp_part && recompute && decode;
  static consteval void explain() {
    static_assert(is_base,
                  "[RECIPE-11] a layer must be a type that is not final, as its members are looked up in a type that "
                  "derives from it; leave out `final` (docs/rules.md#recipe-11)");
    static_assert(unit_kind,
                  "[LAYER-17] unit_kind of a layer, if it has one, must be `static constexpr monomorph::UnitKind "
                  "unit_kind`: what fine-tuning policies know it as (docs/rules.md#layer-17)");
    static_assert(shares_first_unit,
                  "[LAYER-17] shares_first_unit of a layer, if it has one, must be `static constexpr bool "
                  "shares_first_unit`: its parameters lie in the first layer's unit (docs/rules.md#layer-17)");
    static_assert(backward_reads_params,
                  "[LAYER-17] backward_reads_params of a layer, if it has one, must be `static constexpr bool "
                  "backward_reads_params` (docs/rules.md#layer-17)");
    static_assert(within_documents,
                  "[LAYER-17] within_documents of a block, if it has one, must be `static constexpr bool "
                  "within_documents`: no token sees another document where attention asks for it "
                  "(docs/rules.md#layer-17)");
    static_assert(compute,
                  "[LAYER-17] a block that derives from monomorph::AutogradBlock must have `static at::Tensor "
                  "compute(const monomorph::AutogradInput&)`: its forward pass (docs/rules.md#layer-17)");
    static_assert(attention_flops,
                  "[LAYER-17] attention_flops_per_token of a block, if it has one, must be `static constexpr double "
                  "attention_flops_per_token()`: of scores and values, forward (docs/rules.md#layer-17)");
    static_assert(recomputed_flops,
                  "[LAYER-17] recomputed_flops_per_token of a block, if it has one, must be `static constexpr double "
                  "recomputed_flops_per_token(monomorph::Recompute again)`: of what recompute repeats "
                  "(docs/rules.md#layer-17)");
    static_assert(loss_flops,
                  "[LAYER-17] loss_flops_per_token of a layer, if it has one, must be `static constexpr double "
                  "loss_flops_per_token(std::int64_t micro_batch, int ranks)` (docs/rules.md#layer-17)");
    static_assert(gathered_elements,
                  "[LAYER-17] gathered_elements of a layer, if it has one, must be `static constexpr std::int64_t "
                  "gathered_elements(std::int64_t M)`: what a rank shows to the others (docs/rules.md#layer-17)");
    static_assert(attention,
                  "[LAYER-17] Attention of a block, if it has one, must be an attention policy: what its tokens see "
                  "(docs/rules.md#layer-17)");
    static_assert(tower,
                  "[LAYER-17] Tower of a block, if it has one, must be the recipe, or the recipe with another shape, "
                  "attention or rotary positions (docs/rules.md#layer-17)");
    static_assert(mlp_part,
                  "[LAYER-17] a block with a type MlpPart must have a type Tower and `static constexpr "
                  "monomorph::BlockOrder block_order`, too, as monomorph::ComposedBlock has (docs/rules.md#layer-17)");
    static_assert(recompute,
                  "[LAYER-17] recompute of a layer that is no block, if it has one, must be `static void "
                  "recompute(const monomorph::LayerTensors<R>&, const Saved&)`: what backward reads and is not kept "
                  "(docs/rules.md#layer-17)");
    static_assert(decode,
                  "[LAYER-17] decode of a layer, if it has one, must be `static void decode(const "
                  "monomorph::DecodeTensorsOf<R>&)`: new tokens of sequences (docs/rules.md#layer-17)");
  }
};
#undef MONOMORPH_HAS_NUMBER

template <class R, class Layer> consteval auto member_rules_of_layer() {
  using Members = RuleList<LayerMembersFit<Layer, R>, DeclaredMembersFit<Layer>, DescriptionFits<Layer, R>>;
  if constexpr (IsComposed<Layer>)
    return Members{} +
           RuleList<DeclaredMembersFit<typename Layer::MlpPart>, DescriptionFits<typename Layer::MlpPart, R>,
                    DescriptionFits<typename Layer::AttentionPart, R>>{};
  else if constexpr (requires { requires std::is_class_v<typename Layer::MlpPart>; })
    return Members{} + RuleList<DeclaredMembersFit<typename Layer::MlpPart>>{};
  else
    return Members{};
}
template <class R, class... Runs> consteval auto member_rules_of_layers(Stack<Runs...>) {
  return (RuleList<>{} + ... + member_rules_of_layer<R, typename Runs::template block<R>>());
}
/// Of the blocks, and of all layers where the kind of model is a user's own.
template <class R> consteval auto layer_member_rules() {
  if constexpr (kind_came_first<SpecOf<R>>)
    return member_rules_of_layers<R>(layers_of<R>);
  else
    return member_rules_of_layers<R>(LayersOf<R>{});
}

}  // namespace monomorph::rule
