// expect-error: \[PREC-06\] norm\.epsilon must be at least 1e-37 unless precision computes in fp64
// expect-text: EpsilonIsRepresentable<-40, [^>]*fp32>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.norm.epsilon = 1e-40; });
  using precision = std::conditional_t<NEGATIVE, monomorph::precision::Bf16Mixed, monomorph::precision::Fp64>;
};
static_assert(monomorph::admit<Case>());
