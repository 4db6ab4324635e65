#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/rule/model_rules.hpp>
#include <monomorph/rule/operands.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// Rules that join the width of a head with other fields. attention_rules.hpp checks its own range.
namespace monomorph::rule {

template <bool qk_norm, NormKind kind, std::int64_t head_dim> struct HeadNormNeedsTwo {
  static constexpr bool holds = !qk_norm || kind != NormKind::layer_norm || head_dim != 1;
  static consteval void explain() {
    static_assert(holds,
                  "[HEADS-01] head_dim must be at least 2 where qk_norm is set and norm.kind is layer_norm, which "
                  "makes 0 of a single feature; change head_dim, n_heads or NormSpec::kind (docs/rules.md#heads-01)");
  }
};
/// Only a head_dim that is given is judged, as a derived one is always in proportion.
template <std::int64_t n_heads, std::int64_t head_dim, std::int64_t d_model> struct HeadDimIsOfOneHead {
  static constexpr bool holds =
      !is_count(n_heads) || head_dim > 256 || !is_count(d_model) || 1.0 * n_heads * head_dim <= 16.0 * d_model;
  static consteval void explain() {
    static_assert(holds,
                  "[HEADS-02] n_heads x head_dim must be at most 16 d_model: head_dim is the width of one head, not of "
                  "all; change head_dim (docs/rules.md#heads-02)");
  }
};

template <class R> consteval auto head_rules() {
  constexpr const auto& model = trunk_of<R>;
  return RuleList<HeadNormNeedsTwo<model.qk_norm, model.norm.kind, sizes_countable(model) ? model.head_width() : 0>,
                  HeadDimIsOfOneHead<model.n_heads.value, model.head_dim.value_or(0), model.d_model.value>>{};
}

}  // namespace monomorph::rule
