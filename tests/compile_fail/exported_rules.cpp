// Rules of an objective's, a block's and another policy's own are judged with ours.
// expect-error: \[OWN-01\] of an objective
// expect-error: \[OWN-02\] of an attention policy
// expect-error: \[OWN-03\] of a block
// expect-text: Own<3>
#include <monomorph/block/autograd_block.hpp>
#include "support/control.hpp"
template <int id> struct Own {
  static constexpr bool holds = !NEGATIVE;
  static consteval void explain() {
    static_assert(holds || id != 1, "[OWN-01] of an objective");
    static_assert(holds || id != 2, "[OWN-02] of an attention policy");
    static_assert(holds || id != 3, "[OWN-03] of a block");
  }
};
struct Objective : monomorph::objective::NextToken {
  template <class R> using rules = monomorph::RuleList<Own<1>>;
};
struct Attention : monomorph::attention::Causal {
  template <class R> using rules = monomorph::RuleList<Own<2>>;
};
struct Case : Control {
  using objective = Objective;
  using attention = Attention;
};
template <class R> struct Block : monomorph::DecoderBlock<R> {
  template <class Recipe> using rules = monomorph::RuleList<Own<3>>;
};
struct BlockCase : Control {
  using layers = monomorph::Stack<monomorph::Run<Block, 6>>;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<BlockCase>());
