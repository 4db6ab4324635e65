#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/policy/model_kind.hpp>
#include <monomorph/rule/operands.hpp>
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
        "[ROTARY-02] context_length must be at most rotary.scaling.factor x original_context, as far as wavelengths "
        "are stretched; change Llama3RotaryScaling::factor or context_length (docs/rules.md#rotary-02)");
  }
};
template <std::int64_t context_length, std::int64_t base_millionths, std::int64_t factor_millionths>
struct WavelengthsSpanContext {
  static constexpr double longest = 6.283186e-12 * base_millionths * factor_millionths;  // 2 pi base factor
  static constexpr bool holds = base_millionths <= million || factor_millionths < million ||
                                !is_count(context_length) || longest >= context_length;
  static consteval void explain() {
    static_assert(holds,
                  "[ROTARY-03] context_length must be at most 2 pi rotary.base (x scaling.factor), the longest "
                  "wavelength, or tokens far apart look near; change RotarySpec::base (docs/rules.md#rotary-03)");
  }
};

constexpr bool has_default_bounds(Llama3RotaryScaling scaling) {
  const bool ordered = 0 < scaling.low_frequency_factor && scaling.low_frequency_factor < scaling.high_frequency_factor;
  scaling.factor = 1;
  return !ordered || scaling == Llama3RotaryScaling{};
}

template <class R> consteval auto rotary_rules() {
  constexpr const auto& model = trunk_of<R>;
  if constexpr (model.position == Position::rotary) {
    constexpr auto context = model.context_length.value;
    constexpr auto factor = millionths_down(model.rotary.scaling.factor), base = millionths_down(model.rotary.base);
    return RuleList<RotaryScalingIsRead<factor, has_default_bounds(model.rotary.scaling)>,
                    ContextWithinScaling<context, model.rotary.scaling.original_context, factor>,
                    WavelengthsSpanContext<context, base, factor>>{};
  } else {
    return RuleList<>{};
  }
}

}  // namespace monomorph::rule
