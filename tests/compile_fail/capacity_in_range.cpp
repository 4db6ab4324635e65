// expect-error: \[MOE-04\] capacity_factor must be above 0 and below n_experts / top_k
// expect-text: CapacityInRange
#include "support/control.hpp"
inline constexpr monomorph::MixtureSpec experts{.n_experts = 8, .top_k = 2, .capacity_factor = NEGATIVE ? 4.0 : 3.9};
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.bias.mlp = false; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
