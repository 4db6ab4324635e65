// What a finetuning policy of one's own may leave out, where it is there, is what its reader asks for; and its adapters
// are judged as those of LowRank are.
// expect-error: \[FREEZE-01\] a finetuning policy's low_rank, if it has one, must be
// expect-error: \[FREEZE-01\] a finetuning policy's selected, if it has one, must be
// expect-error: \[FREEZE-01\] a finetuning policy's selected, if it has one, must be
// expect-error: \[FREEZE-01\] a finetuning policy's quantizes_parameter, if it has one, must be
// expect-error: \[FREEZE-01\] a finetuning policy's quantizes_parameter, if it has one, must be
// expect-error: \[LORA-01\] the rank of adapters must lie in 1..d_model
// expect-error: \[LORA-02\] the alpha of adapters must be finite and above 0
// expect-text: RankWithinWidth<65, 64>
#include "support/control.hpp"
struct All {
  static constexpr bool trains(monomorph::UnitKind, int) { return true; }
};
struct Adapters : All {
#if NEGATIVE
  static constexpr int low_rank = 8;
  static constexpr const char* selected[] = {"embedding.*"};
#else
  static constexpr monomorph::LowRankSpec low_rank{.rank = 8, .alpha = 16};
  static constexpr monomorph::ParameterSelector selected[] = {"embedding.*"};
#endif
  static constexpr bool trains_parameter(std::string_view, monomorph::ParameterClass) { return true; }
};
struct ByNothing : All {
#if NEGATIVE
  static constexpr monomorph::ParameterSelector selected[] = {"embedding.*"};
#endif
};
/// Every parameter that it may leave frozen.
struct Quantizes : All {
#if !NEGATIVE
  static constexpr bool trains_parameter(std::string_view, monomorph::ParameterClass of) {
    return of != monomorph::ParameterClass::linear;
  }
#endif
  static constexpr bool quantizes_parameter(std::string_view, monomorph::ParameterClass of) {
    return of == monomorph::ParameterClass::linear;
  }
};
struct QuantizesByName : All {
  static constexpr bool trains_parameter(std::string_view, monomorph::ParameterClass of) {
    return of != monomorph::ParameterClass::linear;
  }
#if NEGATIVE
  static constexpr bool quantizes_parameter(std::string_view) { return true; }
#endif
};
struct Wide : All {
  static constexpr monomorph::LowRankSpec low_rank{.rank = NEGATIVE ? 65 : 64, .alpha = NEGATIVE ? -1.0 : 1.0};
};
template <class Policy> struct Case : Control { using finetuning = Policy; };
static_assert(monomorph::admit<Case<Adapters>>());
static_assert(monomorph::admit<Case<ByNothing>>());
static_assert(monomorph::admit<Case<Quantizes>>());
static_assert(monomorph::admit<Case<QuantizesByName>>());
static_assert(monomorph::admit<Case<Wide>>());
