// The rule of a part that stands in a file out of the tree.
// expect-error: \[STRANGE-02\] DeepMlp<times> must have times >= 1
// expect-text: WidthIsBounded<0, 64>
#include "../../examples/out_of_tree/deep_mlp.hpp"
#include "support/control.hpp"
struct Case : Control {
  using layers = monomorph::Stack<monomorph::Run<
      monomorph::Composed<monomorph::BlockOrder::pre_norm, stranger::DeepMlp<NEGATIVE ? 0 : 2>::Part>::Block, 6>>;
};
static_assert(monomorph::admit<Case>());
