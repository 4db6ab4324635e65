// expect-error: \[RECIPE-02\] mesh must be `static constexpr monomorph::MeshSpec mesh\{\.\.\.\};`
// expect-error: \[RECIPE-02\] expect must be `static constexpr monomorph::Expect expect\{\.\.\.\};`
// expect-error: \[RECIPE-02\] budget must be `static constexpr monomorph::Budget budget\{\.\.\.\};`
// expect-error: \[RECIPE-06\] layers must be a type; write `using layers = monomorph::Stack<
// expect-error: \[OBJ-02\] an objective must have `struct Hparams`
// expect-error: \[OBJ-02\] an objective must have `static constexpr bool predicts_next_token`
// expect-error: \[OBJ-02\] an objective must have `template <class Queue> static auto loss
// expect-error: \[RECIPE-06\] attention must be a type
// expect-error: \[RECIPE-06\] schedule must be a type
// expect-error: \[RECIPE-07\] observer must be a policy of observer, and this is one of another axis
// expect-text: ValueFits<monomorph::rule::BudgetMember, Case>
#include "support/control.hpp"
using SixLayers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 6>>;
struct Case : Control {
#if NEGATIVE
  monomorph::MeshSpec mesh{.tp = 1};
  static constexpr int expect = 310'000;
  using budget = monomorph::Budget;
  static constexpr SixLayers layers{};
  using objective = int;
  template <class> using attention = monomorph::attention::WithinDocuments;
  static constexpr int schedule = 1;
  using observer = monomorph::schedule::WarmupDecay;
#else
  static constexpr auto mesh = monomorph::MeshSpec{.tp = 1};
  static constexpr monomorph::Budget budget{.ranks = 1, .bytes_per_rank = monomorph::gib(1), .micro_batch = 1};
  using layers = SixLayers;
  using objective = monomorph::objective::NextToken;
  using attention = monomorph::attention::WithinDocuments;
  using schedule = monomorph::schedule::WarmupDecay;
#endif
};
static_assert(monomorph::admit<Case>());
