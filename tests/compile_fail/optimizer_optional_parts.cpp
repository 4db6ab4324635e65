// expect-error: \[OPTIM-02\] an optimizer must have a peak learning rate
// expect-error: \[OPTIM-02\] an optimizer's transform_work, if it has one, must be
// expect-error: \[OPTIM-02\] an optimizer's state_dtype, if it has one, must be
// expect-error: \[OPTIM-02\] an optimizer's state_space, if it has one, must be
// expect-error: \[OPTIM-02\] an optimizer's combined, if it has one, must be
// expect-error: \[OPTIM-02\] placed and without_placement of an optimizer must both be types
#include "support/control.hpp"
struct Own : monomorph::optim::AdamW {
#if NEGATIVE
  static double shown_rate() { return 0; }  // of nothing
  static constexpr double transform_work(monomorph::Shape) { return 0; }
  static constexpr int state_dtype = 2;                        // no DType
  template <class T> static constexpr auto state_space = T{};  // a template
  static constexpr int combined = 1;                           // no type
  using placed = Own;                                          // without the other
#else
  static double shown_rate(const Hparams&) { return 0; }
  static constexpr monomorph::TransformWork transform_work(monomorph::Shape) { return {}; }
  static constexpr monomorph::DType state_dtype = monomorph::DType::bf16;
  static constexpr auto state_space = monomorph::MemorySpace::device;
#endif
};
struct Case : Control {
  using optimizer = Own;
};
static_assert(monomorph::admit<Case>());
