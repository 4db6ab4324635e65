// expect-error: \[OBJ-10\] no expert may have a capacity in a recipe whose objective is over sequences
// expect-text: SequencesLoseNoToken<monomorph::objective::Preferences, true, true>
#include "support/control.hpp"
#if NEGATIVE
inline constexpr monomorph::MixtureSpec experts{.n_experts = 8, .top_k = 2, .capacity_factor = 1.25};
#else
inline constexpr monomorph::MixtureSpec experts{.n_experts = 8, .top_k = 2};
#endif
struct Case : Control {
  static constexpr monomorph::DecoderSpec model = changed([](monomorph::DecoderSpec& m) { m.bias.mlp = false; });
  using layers = monomorph::Stack<monomorph::Run<monomorph::Mixture<experts>::Block, 6>>;
  using attention = monomorph::attention::PerDocument<monomorph::attention::Causal>;
  using objective = monomorph::objective::Preferences;
};
static_assert(monomorph::admit<Case>());
