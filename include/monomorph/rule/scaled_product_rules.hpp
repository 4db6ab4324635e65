#pragma once
#include <monomorph/block/layers.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/block_counts.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/policy/precision_policy.hpp>
#include <monomorph/recipe/members.hpp>

/// What a recipe must be whose precision has the products of blocks in fp8. That its device has such products is judged
/// in device_rules.hpp, by what the policy needs.
namespace monomorph::rule {

template <int amax_history, int scale_margin> struct ScalesFollowUpdates {
  static constexpr int most_updates = 1024, most_margin = 8;
  static constexpr bool holds =
      1 <= amax_history && amax_history <= most_updates && 0 <= scale_margin && scale_margin <= most_margin;
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-08] amax_history must lie in 1..1024 and scale_margin in 0..8; change the precision policy "
                  "(docs/rules.md#prec-08)");
  }
};
template <DType compute> struct ScaledTensorsAreBf16 {
  static constexpr bool holds = compute == DType::bf16;
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-09] compute_dtype must be bf16 where products are in fp8, of which bf16 holds every number; "
                  "change the precision policy's compute_dtype, or leave out amax_history (docs/rules.md#prec-09)");
  }
};
template <class Block, bool scales> struct BlockScalesProducts {
  static constexpr bool holds = scales;
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-10] every block must have products that can be in fp8, as those of attention and of a dense "
                  "MLP can: mixtures of experts and blocks with a body of your own cannot; change layers, or precision "
                  "to Bf16Mixed (docs/rules.md#prec-10)");
  }
};
template <class Block, std::int64_t d_model, std::int64_t q_width, std::int64_t qkv_width, std::int64_t d_ff,
          std::int64_t context_length>
struct ScaledWidthsFillAccesses {
  static constexpr bool holds =
      d_model % 16 == 0 && q_width % 16 == 0 && qkv_width % 16 == 0 && d_ff % 16 == 0 && context_length % 16 == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-11] the widths of model, of queries, of queries, keys and values together, of the MLP, and "
                  "context_length must be multiples of 16 where products are in fp8; change the model's sizes, or "
                  "precision to Bf16Mixed (docs/rules.md#prec-11)");
  }
};
/// @tparam unit of a block of which nothing is trained; -1 if there is none
template <class Finetuning, int unit> struct ScaledBlocksAreTrained {
  static constexpr bool holds = unit < 0;
  static consteval void explain() {
    static_assert(holds,
                  "[PREC-12] something of every block must be trained where products are in fp8, as adapters are: a "
                  "block that is frozen whole records nothing by which its scales could follow; change finetuning, or "
                  "precision to Bf16Mixed (docs/rules.md#prec-12)");
  }
};

/// Those that values decide.
template <class R> consteval auto scaled_value_rules() {
  using P = typename R::precision;
  if constexpr (scales_products<P>)
    return RuleList<ScalesFollowUpdates<amax_history<P>(), scale_margin<P>()>,
                    ScaledTensorsAreBf16<P::compute_dtype>>{};
  else
    return RuleList<>{};
}

template <class R, class Block> consteval auto scaled_rules_of_block() {
  if constexpr (plan::maxima_of<Block> == 0) {
    return RuleList<BlockScalesProducts<Block, false>>{};
  } else {
    using Attention = typename Block::AttentionPart;
    return RuleList<ScaledWidthsFillAccesses<Block, Attention::D, Attention::Q, Attention::QKV, Block::MlpPart::F,
                                             trunk_of<R>.context_length>>{};
  }
}
template <class R, class... Runs> consteval auto scaled_rules_of_blocks(Stack<Runs...>) {
  return (RuleList<>{} + ... + scaled_rules_of_block<R, typename Runs::template block<R>>());
}
template <class R> consteval int first_frozen_block() {
  for (int unit = 0; unit < plan::n_units<R>; ++unit)
    if (plan::is_block<R>(unit) && !plan::trains<R>(unit)) return unit;
  return -1;
}
/// Those that blocks and finetuning decide, when the layouts are known.
template <class R> consteval auto scaled_product_rules() {
  if constexpr (scales_products<typename R::precision>)
    return scaled_rules_of_blocks<R>(layers_of<R>) +
           RuleList<ScaledBlocksAreTrained<finetuning_of<R>, first_frozen_block<R>()>>{};
  else
    return RuleList<>{};
}

}  // namespace monomorph::rule
