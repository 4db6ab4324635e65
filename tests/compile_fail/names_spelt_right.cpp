// expect-error: \[RECIPE-01\] `meshh` must not be a member of a recipe, .* rename it `mesh`
// expect-error: \[RECIPE-01\] `optimiser` must not be a member of a recipe, .* rename it `optimizer`
// expect-error: \[RECIPE-01\] `expected` must not be a member of a recipe, .* rename it `expect`
// expect-error: \[RECIPE-01\] `Budget` must not be a member of a recipe, .* rename it `budget`
// expect-error: \[RECIPE-01\] `activation_checkpointing` must not be a member of a recipe, .* rename it
// expect-error: \[RECIPE-01\] `attn` must not be a member of a recipe, .* rename it `attention`
// expect-text: NamesSpeltRight<Case>
#include "support/control.hpp"
struct Parent : Control {
#if NEGATIVE
  using optimiser = monomorph::optim::AdamW;  // inherited ones are found, too
#endif
};
struct Case : Parent {
#if NEGATIVE
  static constexpr monomorph::MeshSpec meshh{};
  static constexpr monomorph::Expect expected{.params = 1};
  monomorph::MeshSpec Budget{};  // not even static
  using attn = monomorph::attention::WithinDocuments;
  template <int n> using activation_checkpointing = monomorph::checkpointing::EveryNthBlock<n>;
#endif
  static constexpr int n_experts = 8, model_width = 64;  // names of the author's own are fine
  using token = int;
  static constexpr monomorph::MeshSpec mesh{};
  static constexpr int half(int n) { return n / 2; }
};
static_assert(monomorph::admit<Case>());
