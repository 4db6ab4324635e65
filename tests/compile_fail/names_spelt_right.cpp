// expect-error: \[RECIPE-01\] `meshh` must not be a member of a recipe, .* rename it `mesh`
// expect-error: \[RECIPE-01\] `optimiser` must not be a member of a recipe, .* rename it `optimizer`
// expect-error: \[RECIPE-01\] `expected` must not be a member of a recipe, .* rename it `expect`
// expect-error: \[RECIPE-01\] `Budget` must not be a member of a recipe, .* rename it `budget`
// expect-error: \[RECIPE-01\] `activation_checkpointing` must not be a member of a recipe, .* rename it
// expect-error: \[RECIPE-01\] `attn` must not be a member of a recipe, .* rename it `attention`
// expect-error: \[RECIPE-01\] `mash` must not be a member of a recipe, .* rename it `mesh`
// expect-error: \[RECIPE-01\] `attension` must not be a member of a recipe, .* rename it `attention`
// expect-error: \[RECIPE-01\] `bugget` must not be a member of a recipe, .* rename it `budget`
// expect-error: \[RECIPE-01\] `shardings` must not be a member of a recipe, .* rename it `sharding`
// expect-error: \[RECIPE-01\] `presicion` must not be a member of a recipe, .* rename it `precision`
// expect-error: \[RECIPE-01\] `optimizor` must not be a member of a recipe, .* rename it `optimizer`
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
  static constexpr monomorph::MeshSpec mash{};
  static constexpr monomorph::Budget bugget{.ranks = 1, .bytes_per_rank = 1, .micro_batch = 1};
  using attension = monomorph::attention::WithinDocuments;
  using shardings = monomorph::sharding::Replicate;
  using presicion = monomorph::precision::Bf16Mixed;
  using optimizor = monomorph::optim::AdamW;
  using attn = monomorph::attention::WithinDocuments;
  template <int n> using activation_checkpointing = monomorph::checkpointing::EveryNthBlock<n>;
#endif
  static constexpr int n_experts = 8, model_width = 64;  // names of the author's own are fine
  using token = int;
  static constexpr monomorph::MeshSpec mesh{};
  static constexpr int half(int n) { return n / 2; }
};
static_assert(monomorph::admit<Case>());
