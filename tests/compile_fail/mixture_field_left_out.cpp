// expect-error: \[SPEC-01\] monomorph::MixtureSpec must be given top_k
// expect-text: MixtureFields
#include "support/control.hpp"
inline constexpr monomorph::MixtureSpec experts {
  .n_experts = 8,
#if !NEGATIVE
  .top_k = 2
#endif
};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.bias.mlp = false; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
