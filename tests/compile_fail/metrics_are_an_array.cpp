// expect-error: \[OBJ-07\] the metrics of an objective must be `static constexpr
#include "support/encoder.hpp"
struct Objective : monomorph::objective::NextToken {
  static constexpr std::array<monomorph::ObjectiveMetric, NEGATIVE ? 5 : 4> metrics{};
};
struct Case : Control {
  using objective = Objective;
};
static_assert(monomorph::admit<Case>());
