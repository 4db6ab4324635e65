// expect-error: \[MOE-01\] n_experts must lie in 2\.\.1024; change MixtureSpec::n_experts
// expect-text: ExpertsInRange<1025>
#include "support/control.hpp"
inline constexpr monomorph::MixtureSpec experts{.n_experts = NEGATIVE ? 1025 : 1024, .top_k = 2};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.bias.mlp = false; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
