// expect-error: \[OBSERVE-01\] an observer must have `static constexpr std::string_view name`
// expect-error: \[OBSERVE-01\] an observer must be made by `Observer\{\}`, or by `Observer\{hparams\}`
// expect-error: \[OBSERVE-01\] an observer must have `bool wants\(std::int64_t step\) const`
#include "support/control.hpp"
struct Own {
#if NEGATIVE
  explicit Own(int);
  bool wants(std::int64_t step);
#else
  static constexpr std::string_view name = "Own";
  static bool wants(std::int64_t step) { return step == 1; }
#endif
};
struct Case : Control {
  using observer = Own;
};
static_assert(monomorph::admit<Case>());
