#pragma once
#include <monomorph/block/model_kinds.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/operands.hpp>
#include <monomorph/spec/decoder_spec.hpp>

namespace monomorph::rule {

template <std::int64_t n_heads> struct HeadsInRange {
  static constexpr bool holds = is_count(n_heads);
  static consteval void explain() {
    static_assert(holds, "[ATTN-01] n_heads must lie in 1..16777216; change n_heads (docs/rules.md#attn-01)");
  }
};
template <std::int64_t d_model, std::int64_t n_heads, bool head_dim_given> struct HeadsDivideWidth {
  static constexpr bool holds = head_dim_given || !is_count(n_heads) || !is_count(d_model) || d_model % n_heads == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-02] d_model must be a multiple of n_heads where head_dim is derived; change n_heads, or give "
                  "head_dim (docs/rules.md#attn-02)");
  }
};
template <std::int64_t n_heads, std::int64_t n_kv_heads> struct KeyHeadsDivideHeads {
  static constexpr bool holds = !is_count(n_heads) || (n_kv_heads > 0 && n_heads % n_kv_heads == 0);
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-03] n_heads must be a multiple of n_kv_heads, which must be at least 1; change n_kv_heads "
                  "(docs/rules.md#attn-03)");
  }
};
template <std::int64_t head_dim> struct HeadDimInRange {
  static constexpr bool holds = 1 <= head_dim && head_dim <= 256;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-04] head_dim (d_model / n_heads unless given) must lie in 1..256, which is what the attention "
                  "kernels take; change n_heads or head_dim (docs/rules.md#attn-04)");
  }
};
template <Position position, std::int64_t head_dim> struct RotaryHeadDimEven {
  static constexpr bool holds = position != Position::rotary || head_dim < 1 || head_dim % 2 == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-05] head_dim must be even where position is rotary, which turns features in pairs; change "
                  "head_dim or n_heads (docs/rules.md#attn-05)");
  }
};
template <Position position, std::int64_t base_millionths> struct RotaryBaseAboveOne {
  static constexpr bool holds =
      position != Position::rotary || (million < base_millionths && base_millionths < beyond_millionths);
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-06] rotary.base must be above 1 and finite; change RotarySpec::base (docs/rules.md#attn-06)");
  }
};
template <std::int64_t factor_millionths, std::int64_t low_frequency_millionths, std::int64_t high_frequency_millionths>
struct RotaryScalingOrdered {
  static constexpr bool holds = million <= factor_millionths && factor_millionths < beyond_millionths &&
                                0 < low_frequency_millionths && low_frequency_millionths < high_frequency_millionths &&
                                high_frequency_millionths < beyond_millionths;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-07] rotary.scaling must have factor >= 1 and 0 < low_frequency_factor < "
                  "high_frequency_factor; change Llama3RotaryScaling (docs/rules.md#attn-07)");
  }
};
template <std::int64_t original_context, std::int64_t factor_millionths> struct RotaryOriginalContextPositive {
  static constexpr bool holds = factor_millionths == million || original_context > 0;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-08] rotary.scaling.original_context must be at least 1 where factor is not 1; change "
                  "Llama3RotaryScaling::original_context (docs/rules.md#attn-08)");
  }
};
template <Position position, bool rotary_is_default> struct RotaryIsRead {
  static constexpr bool holds = position == Position::rotary || rotary_is_default;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-09] rotary must be left out unless position is rotary, as nothing else reads it; change "
                  "position or rotary (docs/rules.md#attn-09)");
  }
};
template <std::int64_t attention_dropout_millionths, AttentionKernel kernel> struct AttentionDropoutNeedsReference {
  static constexpr bool holds = attention_dropout_millionths <= 0 || kernel == AttentionKernel::reference;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-10] dropout.attention must be 0 unless attention_kernel is reference, as the tiled kernel has "
                  "no dropout; change DropoutSpec::attention or attention_kernel (docs/rules.md#attn-10)");
  }
};

template <class Block, bool within_documents> struct BlockKeepsWithinDocuments {
  static constexpr bool holds = !within_documents || requires { requires bool{Block::within_documents}; };
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-11] every block of layers must have `static constexpr bool within_documents = true;` where "
                  "attention keeps within documents; give it to a block none of whose tokens sees another document, or "
                  "change attention (docs/rules.md#attn-11)");
  }
};
/// `before` and `after` count the tokens on either side of the query that it attends to.
template <class Attention, std::int64_t before, std::int64_t after> struct TokenSeesItself {
  static constexpr bool holds =
      0 <= before && before <= AttentionMask::unlimited && 0 <= after && after <= AttentionMask::unlimited;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-16] a token must attend to itself: mask.before and mask.after must lie in 0..unlimited; give "
                  "SlidingWindow<W> a W of at least 1, or change the mask of your attention (docs/rules.md#attn-16)");
  }
};
template <class Attention, std::int64_t prefix, std::int64_t context_length> struct PrefixWithinContext {
  static constexpr bool holds = 0 <= prefix && (prefix <= context_length || context_length < 1);
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-13] the prefix of an attention must lie in 0..context_length; change P of Prefix<P> or "
                  "context_length (docs/rules.md#attn-13)");
  }
};
template <class Attention, std::int64_t after, bool predicts_next_token> struct NextTokenIsHidden {
  static constexpr bool holds = !predicts_next_token || after <= 0;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-14] no token may attend to tokens behind it where the objective is to predict the next one, "
                  "as it would see what it is to predict; change attention, e.g. to Causal, or to Prefix<P>, in which "
                  "tokens that others see are no targets (docs/rules.md#attn-14)");
  }
};
template <class R, bool predicts_next_token, bool sees_behind> struct HiddenTokenIsSeenFromBothSides {
  static constexpr bool holds = predicts_next_token || sees_behind;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-17] some layer must attend to tokens behind a token where the objective is not to predict the "
                  "next one, as it would be predicted from one side, which NextToken trains for every token; change "
                  "attention, e.g. to Bidirectional, or objective (docs/rules.md#attn-17)");
  }
};
template <class Attention, bool of_layers, bool of_recipe> struct LayersAgreeOnDocuments {
  static constexpr bool holds = of_layers == of_recipe;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-15] the attention of layers must keep within documents where the recipe's attention does, and "
                  "only there, as that decides what a batch tells and where positions begin; wrap the one that does "
                  "not in PerDocument<...> (docs/rules.md#attn-15)");
  }
};

template <class R, class Attention> consteval auto mask_rules() {
  constexpr AttentionMask mask = Attention::mask;
  constexpr bool predicts_next = predicts_next_token<objective_of<R>> && !makes_embeddings<R>;  // ENC-01 reports that
  return RuleList<TokenSeesItself<Attention, mask.before, mask.after>,
                  PrefixWithinContext<Attention, mask.prefix, trunk_of<R>.context_length.value>,
                  NextTokenIsHidden<Attention, mask.after, predicts_next>>{};
}

/// Rules about an attention that a block has in place of the recipe's.
template <class R, class Block> consteval auto rules_of_layer_attention() {
  if constexpr (requires { typename Block::Attention; }) {
    using Attention = typename Block::Attention;
    return mask_rules<R, Attention>() + exported_rules<Attention, R>() +
           RuleList<LayersAgreeOnDocuments<Attention, bool{Attention::within_documents},
                                           bool{attention_of<R>::within_documents}>>{};
  } else {
    return RuleList<>{};
  }
}
template <class R, class Block> consteval auto rules_of_block() {
  return RuleList<BlockKeepsWithinDocuments<Block, bool{attention_of<R>::within_documents}>>{} +
         rules_of_layer_attention<R, Block>();
}
/// A block that does not declare its attention may mix tokens in any way.
template <class Block> consteval bool may_see_behind() {
  if constexpr (requires { typename Block::Attention; }) {
    constexpr AttentionMask mask = Block::Attention::mask;
    return mask.after > 0 || mask.prefix > 1;
  } else {
    return true;
  }
}
template <class R, class... Runs> consteval bool some_sees_behind(Stack<Runs...>) {
  return (may_see_behind<typename Runs::template block<R>>() || ...);
}
template <class R> inline constexpr bool some_block_sees_behind = some_sees_behind<R>(layers_of<R>);

template <class R, class... Runs> consteval auto rules_of_blocks(Stack<Runs...>) {
  constexpr bool sees_both_sides = makes_embeddings<R> || some_block_sees_behind<R>;  // or a rule of the encoder's
  return (RuleList<>{} + ... + rules_of_block<R, typename Runs::template block<R>>()) +
         RuleList<HiddenTokenIsSeenFromBothSides<R, predicts_next_token<objective_of<R>>, sees_both_sides>>{};
}
template <class R> consteval auto block_attention_rules() { return rules_of_blocks<R>(layers_of<R>); }

template <class R> consteval auto attention_rules() {
  constexpr const auto& model = trunk_of<R>;
  constexpr auto scaling = model.rotary.scaling;
  constexpr auto heads = model.n_heads.value, width = model.d_model.value;
  constexpr bool derivable = is_count(heads) && is_count(width) && width % heads == 0;
  constexpr auto head_dim = model.head_dim.given || derivable ? model.head_width() : 2;  // else ATTN-01, ATTN-02
  constexpr auto factor = millionths_down(scaling.factor);
  return RuleList<HeadsInRange<heads>, HeadsDivideWidth<width, heads, model.head_dim.given>,
                  KeyHeadsDivideHeads<heads, model.kv_heads()>, HeadDimInRange<head_dim>,
                  RotaryHeadDimEven<model.position, head_dim>,
                  RotaryBaseAboveOne<model.position, millionths_down(model.rotary.base)>,
                  RotaryScalingOrdered<factor, millionths_up(scaling.low_frequency_factor),
                                       millionths_up(scaling.high_frequency_factor)>,
                  RotaryOriginalContextPositive<scaling.original_context, factor>,
                  RotaryIsRead<model.position, model.rotary == RotarySpec{}>,
                  AttentionDropoutNeedsReference<millionths_up(model.dropout.attention), model.attention_kernel>>{} +
         mask_rules<R, attention_of<R>>();
}

}  // namespace monomorph::rule
