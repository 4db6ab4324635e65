// expect-error: \[OBSERVE-01\] an observer must be made by `Observer\{\}`, or by `Observer\{hparams\}`
// expect-error: \[OBSERVE-01\] an observer must have `bool wants\(std::int64_t step\) const`
// expect-error: \[OBSERVE-01\] an observer must have `void observe\(const auto& step, auto& records\)`
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  explicit Own(int);
  bool wants(std::int64_t step);
#else
  static void observe(const auto& step, auto& records);
  static bool wants(std::int64_t step) { return step == 1; }
#endif
};
struct Case : Control {
  using observer = Own;
};
static_assert(monomorph::admit<Case>());
