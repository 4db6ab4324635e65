// expect-error: \[MOE-06\] balance_loss, z_loss and bias_rate must be finite and at least 0
// expect-text: BalanceNotNegative
#include "support/control.hpp"
inline constexpr monomorph::MixtureSpec experts{.n_experts = 8, .top_k = 2, .bias_rate = NEGATIVE ? -0.001 : 0.001};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.bias.mlp = false; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
