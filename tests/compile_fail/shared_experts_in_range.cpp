// expect-error: \[MOE-05\] n_shared must lie in 0\.\.1024; change MixtureSpec::n_shared
// expect-text: SharedExpertsInRange<-1>
#include "support/control.hpp"
inline constexpr monomorph::MixtureSpec experts{.n_experts = 8, .top_k = 2, .n_shared = NEGATIVE ? -1 : 0};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.bias.mlp = false; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
