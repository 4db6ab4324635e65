#pragma once
#include <monomorph/block/stack.hpp>
#include <monomorph/core/rule.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/operands.hpp>
#include <monomorph/spec/model_spec.hpp>

namespace monomorph::rule {

template <std::int64_t n_heads> struct HeadsInRange {
  static constexpr bool holds = is_count(n_heads);
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-01] n_heads must lie in 1..16777216; change ModelSpec::n_heads (docs/rules.md#attn-01)");
  }
};
template <std::int64_t d_model, std::int64_t n_heads, bool head_dim_given> struct HeadsDivideWidth {
  static constexpr bool holds = head_dim_given || !is_count(n_heads) || !is_count(d_model) || d_model % n_heads == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-02] d_model must be a multiple of n_heads where head_dim is derived; change "
                  "ModelSpec::n_heads, or give ModelSpec::head_dim (docs/rules.md#attn-02)");
  }
};
template <std::int64_t n_heads, std::int64_t n_kv_heads> struct KeyHeadsDivideHeads {
  static constexpr bool holds = !is_count(n_heads) || (n_kv_heads > 0 && n_heads % n_kv_heads == 0);
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-03] n_heads must be a multiple of n_kv_heads, which must be at least 1; change "
                  "ModelSpec::n_kv_heads (docs/rules.md#attn-03)");
  }
};
template <std::int64_t head_dim> struct HeadDimInRange {
  static constexpr bool holds = 1 <= head_dim && head_dim <= 256;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-04] head_dim (d_model / n_heads unless given) must lie in 1..256, which is what the "
                  "attention kernels take; change ModelSpec::n_heads or ModelSpec::head_dim (docs/rules.md#attn-04)");
  }
};
template <Position position, std::int64_t head_dim> struct RotaryHeadDimEven {
  static constexpr bool holds = position != Position::rotary || head_dim < 1 || head_dim % 2 == 0;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-05] head_dim must be even where position is rotary, which turns features in pairs; change "
                  "ModelSpec::head_dim or ModelSpec::n_heads (docs/rules.md#attn-05)");
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
                  "ModelSpec::position or ModelSpec::rotary (docs/rules.md#attn-09)");
  }
};
template <std::int64_t attention_dropout_millionths, AttentionKernel kernel> struct AttentionDropoutNeedsReference {
  static constexpr bool holds = attention_dropout_millionths <= 0 || kernel == AttentionKernel::reference;
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-10] dropout.attention must be 0 unless attention_kernel is reference, as the tiled kernel "
                  "has no dropout; change DropoutSpec::attention or ModelSpec::attention_kernel "
                  "(docs/rules.md#attn-10)");
  }
};

template <class Block, bool within_documents> struct BlockKeepsWithinDocuments {
  static constexpr bool holds = !within_documents || requires { requires bool{Block::within_documents}; };
  static consteval void explain() {
    static_assert(holds,
                  "[ATTN-11] every block of layers must have `static constexpr bool within_documents = true;` where "
                  "attention is WithinDocuments; give it to a block none of whose tokens sees another document, or "
                  "change attention (docs/rules.md#attn-11)");
  }
};

template <class R, class... Runs> consteval auto within_documents_rules_of(Stack<Runs...>) {
  return RuleList<
      BlockKeepsWithinDocuments<typename Runs::template block<R>, bool{attention_of<R>::within_documents}>...>{};
}
template <class R> consteval auto within_documents_rules() { return within_documents_rules_of<R>(layers_of<R>); }

template <class R> consteval auto attention_rules() {
  constexpr const auto& model = R::model;
  constexpr auto scaling = model.rotary.scaling;
  constexpr auto heads = model.n_heads.value, width = model.d_model.value;
  constexpr bool derivable = is_count(heads) && is_count(width) && width % heads == 0;
  constexpr auto head_dim = model.head_dim.given || derivable ? model.head_width() : 2;  // 2: ATTN-01 or ATTN-02 speaks
  constexpr auto factor = millionths_down(scaling.factor);
  return RuleList<HeadsInRange<heads>, HeadsDivideWidth<width, heads, model.head_dim.given>,
                  KeyHeadsDivideHeads<heads, model.kv_heads()>, HeadDimInRange<head_dim>,
                  RotaryHeadDimEven<model.position, head_dim>,
                  RotaryBaseAboveOne<model.position, millionths_down(model.rotary.base)>,
                  RotaryScalingOrdered<factor, millionths_up(scaling.low_frequency_factor),
                                       millionths_up(scaling.high_frequency_factor)>,
                  RotaryOriginalContextPositive<scaling.original_context, factor>,
                  RotaryIsRead<model.position, model.rotary == RotarySpec{}>,
                  AttentionDropoutNeedsReference<millionths_up(model.dropout.attention), model.attention_kernel>>{};
}

}  // namespace monomorph::rule
