#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/rule/operands.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// Rules about one model's sizes. A rule about several fields holds where one of them is out of range by itself, as
/// that breaks a rule of its own: each mistake is told once.
namespace monomorph::rule {

template <std::int64_t n_layers> struct LayersInRange {
  static constexpr bool holds = 1 <= n_layers && n_layers <= 256;
  static consteval void explain() {
    static_assert(holds, "[MODEL-01] n_layers must lie in 1..256; change n_layers (docs/rules.md#model-01)");
  }
};
template <std::int64_t vocab_size> struct VocabularyInRange {
  static constexpr bool holds = is_count(vocab_size);
  static consteval void explain() {
    static_assert(holds, "[MODEL-02] vocab_size must lie in 1..16777216; change vocab_size (docs/rules.md#model-02)");
  }
};
template <std::int64_t d_model> struct WidthInRange {
  static constexpr bool holds = is_count(d_model);
  static consteval void explain() {
    static_assert(holds, "[MODEL-03] d_model must lie in 1..16777216; change d_model (docs/rules.md#model-03)");
  }
};
template <std::int64_t context_length> struct ContextInRange {
  static constexpr bool holds = is_count(context_length);
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-04] context_length must lie in 1..16777216; change context_length (docs/rules.md#model-04)");
  }
};
template <std::int64_t d_ff> struct FeedForwardWidthInRange {
  static constexpr bool holds = is_count(d_ff);
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-05] d_ff must lie in 1..16777216 where it is given; change d_ff, or leave it out "
                  "(docs/rules.md#model-05)");
  }
};
template <std::int64_t d_ff_multiple> struct FeedForwardMultipleInRange {
  static constexpr bool holds = is_count(d_ff_multiple);
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-06] d_ff_multiple must lie in 1..16777216; change d_ff_multiple (docs/rules.md#model-06)");
  }
};
template <std::int64_t d_ff_multiple, Activation activation, bool d_ff_given> struct FeedForwardMultipleIsRead {
  static constexpr bool is_read = is_gated(activation) && !d_ff_given;
  static constexpr bool holds = is_read || d_ff_multiple == 256;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-07] d_ff_multiple must stay 256 unless d_ff is derived for a gated activation, as nothing "
                  "else reads it; change d_ff_multiple (docs/rules.md#model-07)");
  }
};
template <std::int64_t vocab_multiple> struct VocabularyMultipleInRange {
  static constexpr bool holds = 1 <= vocab_multiple && vocab_multiple <= 65'536;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-08] vocab_multiple must lie in 1..65536; change vocab_multiple (docs/rules.md#model-08)");
  }
};
template <std::int64_t epsilon_millionths> struct NormEpsilonPositive {
  static constexpr bool holds = 0 < epsilon_millionths && epsilon_millionths < million;
  static consteval void explain() {
    static_assert(
        holds,
        "[MODEL-09] norm.epsilon must be above 0 and below 1; change NormSpec::epsilon (docs/rules.md#model-09)");
  }
};
constexpr bool is_probability(std::int64_t millionths) { return 0 <= millionths && millionths < million; }
template <std::int64_t embedding_millionths, std::int64_t attention_millionths, std::int64_t residual_millionths>
struct DropoutIsProbability {
  static constexpr bool holds = is_probability(embedding_millionths) && is_probability(attention_millionths) &&
                                is_probability(residual_millionths);
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-10] dropout.embedding, dropout.attention and dropout.residual must be at least 0 and below "
                  "1; change DropoutSpec (docs/rules.md#model-10)");
  }
};
template <std::int64_t std_millionths> struct InitializationStdPositive {
  static constexpr bool holds = 0 < std_millionths && std_millionths < beyond_millionths;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-11] initialization.std must be above 0 and finite; change InitializationSpec::std, or make "
                  "it automatic (docs/rules.md#model-11)");
  }
};
/// Estimates the parameters from the sizes of one layer: its width, its heads and its hidden layer.
template <std::int64_t n_layers, std::int64_t d_model, std::int64_t n_heads, std::int64_t head_dim, std::int64_t d_ff>
struct ParametersCountable {
  static constexpr double estimate = double(n_layers) * double(d_model) * (4.0 * n_heads * head_dim + 3.0 * d_ff);
  static constexpr bool holds = estimate < 1e15;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-12] n_layers x d_model x (4 n_heads head_dim + 3 d_ff), about the parameters, must be below "
                  "1e15; change d_model, n_heads or d_ff (docs/rules.md#model-12)");
  }
};

template <std::int64_t vocab_multiple, std::int64_t vocab_size> struct PaddingIsSmall {
  static constexpr bool holds =
      !is_count(vocab_size) || vocab_multiple > 65'536 || vocab_multiple <= 512 || vocab_multiple <= vocab_size;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-13] vocab_multiple must be at most vocab_size, or 512: most of the table would be padding; "
                  "change vocab_multiple (docs/rules.md#model-13)");
  }
};
template <std::int64_t d_ff_multiple, std::int64_t d_model> struct FeedForwardRoundedUpLittle {
  static constexpr bool holds =
      !is_count(d_ff_multiple) || !is_count(d_model) || d_ff_multiple <= 256 || 3.0 * d_ff_multiple <= 8.0 * d_model;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-14] d_ff_multiple must be at most 8/3 d_model, or 256: rounding up would double d_ff; change "
                  "d_ff_multiple, or give d_ff (docs/rules.md#model-14)");
  }
};
template <std::int64_t std_millionths, std::int64_t d_model> struct InitializationKeepsScale {
  static constexpr bool holds = std_millionths <= 0 || std_millionths == beyond_millionths || !is_count(d_model) ||
                                1e-12 * std_millionths * std_millionths * d_model <= 64;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-15] initialization.std x sqrt(d_model) must be at most 8: every matrix would multiply what "
                  "it reads by that; change InitializationSpec::std (docs/rules.md#model-15)");
  }
};
template <NormKind kind, std::int64_t d_model> struct LayerNormNeedsTwo {
  static constexpr bool holds = kind != NormKind::layer_norm || d_model != 1;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-16] d_model must be at least 2 where norm.kind is layer_norm, which makes 0 of a single "
                  "feature; change d_model or NormSpec::kind (docs/rules.md#model-16)");
  }
};
template <std::int64_t d_ff, std::int64_t d_model, bool d_ff_given> struct FeedForwardInProportion {
  static constexpr bool holds = !d_ff_given || !is_count(d_ff) || !is_count(d_model) || d_ff <= 64.0 * d_model;
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-17] d_ff must be at most 64 d_model: it is the width of a hidden layer, not its parameters; "
                  "change d_ff (docs/rules.md#model-17)");
  }
};

template <std::int64_t embedding_millionths, std::int64_t attention_millionths> struct MultipliersPositive {
  static constexpr bool is_positive(std::int64_t millionths) {
    return 0 < millionths && millionths < beyond_millionths;
  }
  static constexpr bool holds = is_positive(embedding_millionths) && is_positive(attention_millionths);
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-18] multiplier.embedding and multiplier.attention must be above 0 and finite; change "
                  "MultiplierSpec, or leave it out (docs/rules.md#model-18)");
  }
};

template <std::int64_t scores_millionths, std::int64_t logits_millionths> struct SoftCapsPositive {
  static constexpr bool is_cap(std::int64_t millionths) {
    return millionths == 0 || (million / 1000 <= millionths && millionths < beyond_millionths);
  }
  static constexpr bool holds = is_cap(scores_millionths) && is_cap(logits_millionths);
  static consteval void explain() {
    static_assert(holds,
                  "[MODEL-19] soft_cap.scores and soft_cap.logits must be 0, which is none, or at least 0.001 and "
                  "finite; change SoftCapSpec, or leave it out (docs/rules.md#model-19)");
  }
};

/// What follows from the sizes may be computed.
constexpr bool sizes_countable(const auto& model) {
  return is_count(model.vocab_size) && is_count(model.n_heads) && is_count(model.d_model) &&
         is_count(model.head_dim.value_or(1)) && is_count(model.d_ff.value_or(1)) && is_count(model.d_ff_multiple) &&
         is_count(model.vocab_multiple);
}

template <class R> consteval auto model_rules() {
  constexpr const auto& model = trunk_of<R>;
  constexpr auto heads = model.n_heads.value, width = model.d_model.value;
  constexpr bool countable = sizes_countable(model);
  constexpr bool derives_gated = is_gated(model.activation) && !model.d_ff.given;
  constexpr auto std = model.initialization.std;
  return RuleList<
      LayersInRange<model.n_layers.value>, VocabularyInRange<model.vocab_size.value>, WidthInRange<width>,
      ContextInRange<model.context_length.value>, FeedForwardWidthInRange<model.d_ff.value_or(1)>,
      FeedForwardMultipleInRange<model.d_ff_multiple>,
      FeedForwardMultipleIsRead<is_count(model.d_ff_multiple) ? model.d_ff_multiple.value : 256, model.activation,
                                model.d_ff.given>,
      VocabularyMultipleInRange<model.vocab_multiple>, NormEpsilonPositive<millionths_up(model.norm.epsilon)>,
      DropoutIsProbability<millionths_down(model.dropout.embedding), millionths_down(model.dropout.attention),
                           millionths_down(model.dropout.residual)>,
      InitializationStdPositive<millionths_up(model.initialization.std.value_or(1))>,
      PaddingIsSmall<model.vocab_multiple, model.vocab_size.value>,
      FeedForwardRoundedUpLittle<derives_gated ? model.d_ff_multiple.value : 1, width>,
      InitializationKeepsScale<millionths_down(std.value_or(0)), width>, LayerNormNeedsTwo<model.norm.kind, width>,
      FeedForwardInProportion<model.d_ff.value_or(1), width, model.d_ff.given>,
      MultipliersPositive<millionths_up(model.multiplier.embedding),
                          millionths_up(model.multiplier.attention.value_or(1))>,
      SoftCapsPositive<millionths_up(model.soft_cap.scores), millionths_up(model.soft_cap.logits)>,
      ParametersCountable<model.n_layers.value, width, heads, countable ? model.head_width() : 0,
                          countable ? model.ff_width() : 0>>{};
}

}  // namespace monomorph::rule
