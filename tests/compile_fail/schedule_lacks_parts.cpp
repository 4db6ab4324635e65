// expect-error: \[SCHEDULE-01\] a schedule must have `struct Hparams`
// expect-error: \[SCHEDULE-01\] a schedule must have `static monomorph::ScheduledRate rate\(const Hparams&,
// std::int64_t step
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  static double rate(std::int64_t) { return 1; }
#else
  struct Hparams {};
  static monomorph::ScheduledRate rate(const Hparams&, std::int64_t, std::int64_t) { return {}; }
#endif
};
struct Case : Control {
  using schedule = Own;
};
static_assert(monomorph::admit<Case>());
