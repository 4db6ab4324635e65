// expect-error: \[FREEZE-01\] a finetuning policy's trains_parameter, if it has one, must be
#include "support/control.hpp"
struct Own {
  static constexpr bool trains(monomorph::UnitKind, int) { return true; }
#if NEGATIVE
  static constexpr int trains_parameter(const char*) { return 1; }
#else
  static constexpr bool trains_parameter(std::string_view name, monomorph::ParameterClass) {
    return name != "embedding.weight";
  }
#endif
};
struct Case : Control {
  using finetuning = Own;
};
static_assert(monomorph::admit<Case>());
