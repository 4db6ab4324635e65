// expect-error: \[RECIPE-02\] mesh must be `static constexpr monomorph::MeshSpec mesh\{\.\.\.\};`
// expect-error: \[RECIPE-02\] expect must be `static constexpr monomorph::Expect expect\{\.\.\.\};`
// expect-error: \[RECIPE-02\] budget must be `static constexpr monomorph::Budget budget\{\.\.\.\};`
// expect-error: \[RECIPE-02\] layers must be `using layers = monomorph::Stack<monomorph::Run<\.\.\.>, \.\.\.>;`
// expect-error: \[RECIPE-02\] objective must be `using objective = \.\.\.;`
// expect-error: \[RECIPE-02\] attention must be `using attention = \.\.\.;`, a type that models AttentionPolicy
// expect-text: OptionalMembersFit<Case>
#include "support/control.hpp"
using SixLayers = monomorph::Stack<monomorph::Run<monomorph::DecoderBlock, 6>>;
struct Case : Control {
#if NEGATIVE
  monomorph::MeshSpec mesh{.tp = 1};
  static constexpr int expect = 310'000;
  using budget = monomorph::Budget;
  static constexpr SixLayers layers{};
  using objective = int;
  using attention = monomorph::objective::NextToken;
#else
  static constexpr auto mesh = monomorph::MeshSpec{.tp = 1};
  static constexpr monomorph::Budget budget{.ranks = 1, .bytes_per_rank = monomorph::gib(1), .micro_batch = 1};
  using layers = SixLayers;
  using objective = monomorph::objective::NextToken;
  using attention = monomorph::attention::WithinDocuments;
#endif
};
static_assert(monomorph::admit<Case>());
