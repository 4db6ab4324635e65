// expect-error: \[MOE-09\] bias\.mlp must be false with a mixture
// expect-text: ExpertsHaveNoBias<true>
#include "support/control.hpp"
inline constexpr monomorph::MixtureSpec experts{.n_experts = 8, .top_k = 2};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model =
      changed([](monomorph::DecoderSpec& m) { m.bias.mlp = NEGATIVE != 0; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
