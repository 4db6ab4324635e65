// expect-error: \[MOE-03\] d_expert must lie in 1\.\.16777216; change MixtureSpec::d_expert
// expect-text: ExpertWidthInRange<0>
#include "support/control.hpp"
inline constexpr monomorph::MixtureSpec experts{.n_experts = 8, .top_k = 2, .d_expert = NEGATIVE ? 0 : 1};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.bias.mlp = false; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
