#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/recipe/members.hpp>
#include <monomorph/rule/operands.hpp>
#include <monomorph/spec/attention_mask.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// Rules that join rotary positions with the context. attention_rules.hpp checks the ranges of their fields.
namespace monomorph::rule {

/// Where nothing is scaled, the bounds of the wavelengths are left at their defaults.
template <std::int64_t factor_millionths, bool bounds_are_default> struct RotaryScalingIsRead {
  static constexpr bool holds = factor_millionths != million || bounds_are_default;
  static consteval void explain() {
    static_assert(holds,
                  "[ROTARY-01] rotary.scaling must have no other field where factor is 1, as nothing reads them; "
                  "change Llama3RotaryScaling::factor, or leave them out (docs/rules.md#rotary-01)");
  }
};
template <std::int64_t context_length, std::int64_t original_context, std::int64_t factor_millionths>
struct ContextWithinScaling {
  static constexpr bool holds = factor_millionths <= million || factor_millionths == beyond_millionths ||
                                original_context < 1 || !is_count(context_length) ||
                                1e-6 * factor_millionths * original_context >= context_length;
  static consteval void explain() {
    static_assert(
        holds,
        "[ROTARY-02] context_length must be at most factor x original_context of rotary.scaling, or of rotary.yarn, as "
        "far as wavelengths are stretched; change factor or context_length (docs/rules.md#rotary-02)");
  }
};
/// @tparam reach tokens of which one sees all others
template <std::int64_t reach, std::int64_t base_millionths, std::int64_t stretch_millionths>
struct WavelengthsSpanContext {
  static constexpr double longest = 6.283186e-12 * base_millionths * stretch_millionths;  // 2 pi base stretch
  static constexpr bool holds =
      base_millionths <= million || stretch_millionths < million || !is_count(reach) || longest >= reach;
  static consteval void explain() {
    static_assert(
        holds,
        "[ROTARY-03] context_length, or a window of attention, must be at most 2 pi rotary.base (x the factor of a "
        "scaling), the longest wavelength, or tokens far apart look near; change RotarySpec::base "
        "(docs/rules.md#rotary-03)");
  }
};

template <std::int64_t linear_millionths, std::int64_t dynamic_millionths, std::int64_t yarn_millionths>
struct RotaryFactorsInRange {
  static constexpr bool in_range(std::int64_t factor) { return million <= factor && factor < beyond_millionths; }
  static constexpr bool holds =
      in_range(linear_millionths) && in_range(dynamic_millionths) && in_range(yarn_millionths);
  static consteval void explain() {
    static_assert(holds,
                  "[ROTARY-04] rotary.linear, rotary.dynamic and rotary.yarn must have a factor of at least 1 that is "
                  "finite; change factor (docs/rules.md#rotary-04)");
  }
};
template <bool by_llama3, bool by_linear, bool by_dynamic, bool by_yarn> struct OneRotaryScaling {
  static constexpr bool holds = by_llama3 + by_linear + by_dynamic + by_yarn <= 1;
  static consteval void explain() {
    static_assert(holds,
                  "[ROTARY-05] rotary must have at most one of scaling, linear, dynamic and yarn; leave the others out "
                  "(docs/rules.md#rotary-05)");
  }
};
/// Where one of them scales nothing, its other fields are left at their defaults.
template <bool dynamic_is_read, bool yarn_is_read> struct RotaryContextIsExtended {
  static constexpr bool holds = dynamic_is_read && yarn_is_read;
  static consteval void explain() {
    static_assert(holds,
                  "[ROTARY-06] rotary.dynamic must have no factor without original_context, and rotary.yarn no other "
                  "field where factor is 1, as nothing reads them; give what is missing, or leave them out "
                  "(docs/rules.md#rotary-06)");
  }
};
template <std::int64_t original_context, std::int64_t beta_slow_millionths, std::int64_t beta_fast_millionths,
          std::int64_t attention_factor_millionths>
struct YarnOrdered {
  static constexpr bool holds = original_context >= 1 && 0 < beta_slow_millionths &&
                                beta_slow_millionths < beta_fast_millionths &&
                                beta_fast_millionths < beyond_millionths && 0 < attention_factor_millionths &&
                                attention_factor_millionths < beyond_millionths;
  static consteval void explain() {
    static_assert(holds,
                  "[ROTARY-07] rotary.yarn must have original_context >= 1, 0 < beta_slow < beta_fast and "
                  "attention_factor > 0; change YarnRotaryScaling (docs/rules.md#rotary-07)");
  }
};
template <std::int64_t original_context> struct DynamicContextPositive {
  static constexpr bool holds = original_context >= 1;
  static consteval void explain() {
    static_assert(holds,
                  "[ROTARY-08] rotary.dynamic.original_context must be at least 1; give the context length before "
                  "scaling (docs/rules.md#rotary-08)");
  }
};
/// The exponent of its base is H / (H - 2).
template <std::int64_t head_dim> struct DynamicScalingHasFrequencies {
  static constexpr bool holds = head_dim != 2;
  static consteval void explain() {
    static_assert(holds,
                  "[ROTARY-09] head_dim must be at least 4 with rotary.dynamic, which keeps the first frequency and "
                  "lowers the others; change head_dim, or take rotary.linear (docs/rules.md#rotary-09)");
  }
};

constexpr bool has_default_bounds(Llama3RotaryScaling scaling) {
  const bool ordered = 0 < scaling.low_frequency_factor && scaling.low_frequency_factor < scaling.high_frequency_factor;
  scaling.factor = 1;
  return !ordered || scaling == Llama3RotaryScaling{};
}
/// A factor that is out of range is told of by another rule.
constexpr bool stretches(double factor) { return 1 < factor && millionths_down(factor) < beyond_millionths; }
constexpr bool is_read(const DynamicRotaryScaling& dynamic) {
  return dynamic.original_context.given || !stretches(dynamic.factor);
}
constexpr bool is_read(YarnRotaryScaling yarn) {
  if (yarn.factor != 1) return true;
  return yarn == YarnRotaryScaling{};
}
/// By how much the longest wavelength of a model is stretched, if its scaling breaks no rule.
constexpr double longest_stretch(const RotarySpec& rotary, std::int64_t context_length) {
  const auto& [base, llama3, linear, dynamic, yarn] = rotary;
  if (stretches(linear.factor)) return linear.factor;
  if (stretches(yarn.factor)) return yarn.factor;
  const auto original_context = static_cast<double>(dynamic.original_context.value_or(0));
  const auto context = static_cast<double>(context_length);
  if (original_context < 1 || context <= original_context) return llama3.factor;
  const double factor = stretches(dynamic.factor) ? dynamic.factor.value : 1;
  return factor * context / original_context - (factor - 1);
}

template <class R> consteval auto rotary_scaling_rules() {
  constexpr const RotarySpec& rotary = trunk_of<R>.rotary;
  constexpr const DynamicRotaryScaling& dynamic = rotary.dynamic;
  constexpr YarnRotaryScaling yarn = stretches(rotary.yarn.factor) ? rotary.yarn : YarnRotaryScaling{};
  constexpr bool by_dynamic = dynamic.original_context.value_or(0) >= 1;
  return RuleList<RotaryFactorsInRange<millionths_down(rotary.linear.factor), millionths_down(dynamic.factor),
                                       millionths_down(rotary.yarn.factor)>,
                  OneRotaryScaling<stretches(rotary.scaling.factor), stretches(rotary.linear.factor), by_dynamic,
                                   stretches(rotary.yarn.factor)>,
                  RotaryContextIsExtended<is_read(dynamic), is_read(rotary.yarn)>,
                  YarnOrdered<yarn.original_context, millionths_up(yarn.beta_slow), millionths_up(yarn.beta_fast),
                              millionths_up(yarn.attention_factor.value_or(1))>,
                  DynamicContextPositive<dynamic.original_context.value_or(1)>,
                  DynamicScalingHasFrequencies<by_dynamic ? trunk_of<R>.head_width() : 0>>{};
}

/// How many tokens see each other.
template <class R>
inline constexpr std::int64_t reach_of = [] {
  const AttentionMask& mask = attention_of<R>::mask;
  const bool is_window = mask == AttentionMask{.before = mask.before} && mask != AttentionMask{};
  const std::int64_t context = trunk_of<R>.context_length;
  return is_window && mask.before < context ? mask.before + 1 : context;
}();

template <class R> consteval auto rotary_rules() {
  constexpr const auto& model = trunk_of<R>;
  if constexpr (model.position == Position::rotary) {
    constexpr auto context = model.context_length.value;
    constexpr const auto& scaling = model.rotary.scaling;
    constexpr const auto& yarn = model.rotary.yarn;
    constexpr auto factor = millionths_down(scaling.factor), base = millionths_down(model.rotary.base);
    constexpr bool by_yarn = stretches(yarn.factor);
    return RuleList<
               RotaryScalingIsRead<factor, has_default_bounds(scaling)>,
               ContextWithinScaling<context, by_yarn ? yarn.original_context.value : scaling.original_context.value,
                                    by_yarn ? millionths_down(yarn.factor) : factor>,
               WavelengthsSpanContext<reach_of<R>, base, millionths_down(longest_stretch(model.rotary, context))>>{} +
           rotary_scaling_rules<R>();
  } else {
    return RuleList<>{};
  }
}

}  // namespace monomorph::rule
