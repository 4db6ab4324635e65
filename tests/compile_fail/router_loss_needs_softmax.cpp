// expect-error: \[MOE-07\] z_loss must be 0 where scores is sigmoid
// expect-text: RouterLossNeedsSoftmax
#include "support/control.hpp"
inline constexpr monomorph::MixtureSpec experts{.n_experts = 8,
                                                .top_k = 2,
                                                .scores = monomorph::RouterScores::sigmoid,
                                                .z_loss = NEGATIVE ? 0.001 : 0};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.bias.mlp = false; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
