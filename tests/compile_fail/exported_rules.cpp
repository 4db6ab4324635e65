// Rules of a policy's, a block's or a kind of model's own are judged with ours.
// expect-error: \[OWN-01\] of an objective
// expect-error: \[OWN-02\] of an attention policy
// expect-error: \[OWN-03\] of a block
// expect-error: \[OWN-04\] of a schedule
// expect-error: \[OWN-05\] of an observer
// expect-error: \[OWN-06\] of a kind of model
// expect-error: \[OWN-07\] of an optimizer within another
// expect-error: \[OWN-08\] of a mask within another
// expect-text: Own<3>
#include <monomorph/block/autograd_block.hpp>
#include "support/kind.hpp"
template <int id> struct Own {
  static constexpr bool holds = !NEGATIVE;
  static consteval void explain() {
    static_assert(holds || id != 1, "[OWN-01] of an objective");
    static_assert(holds || id != 2, "[OWN-02] of an attention policy");
    static_assert(holds || id != 3, "[OWN-03] of a block");
    static_assert(holds || id != 4, "[OWN-04] of a schedule");
    static_assert(holds || id != 5, "[OWN-05] of an observer");
    static_assert(holds || id != 6, "[OWN-06] of a kind of model");
    static_assert(holds || id != 7, "[OWN-07] of an optimizer within another");
    static_assert(holds || id != 8, "[OWN-08] of a mask within another");
  }
};
struct Objective : monomorph::objective::NextToken {
  template <class R> using rules = monomorph::RuleList<Own<1>>;
};
struct Attention : monomorph::attention::Causal {
  template <class R> using rules = monomorph::RuleList<Own<2>>;
};
struct Schedule : monomorph::schedule::WarmupDecay {
  template <class R> using rules = monomorph::RuleList<Own<4>>;
};
struct Observer {
  static bool wants(std::int64_t) { return true; }
  static void observe(const auto& step, auto& records);
  template <class R> using rules = monomorph::RuleList<Own<5>>;
};
struct Case : Control {
  using objective = Objective;
  using attention = Attention;
  using schedule = Schedule;
  using observer = Observer;
};
struct Optimizer : monomorph::optim::AdamW {
  template <class R> using rules = monomorph::RuleList<Own<7>>;
};
struct Mask : monomorph::attention::Causal {
  template <class R> using rules = monomorph::RuleList<Own<8>>;
};
struct WithinOthers : Control {
  using optimizer = monomorph::optim::ByClass<monomorph::optim::Muon, Optimizer>;
  using attention = monomorph::attention::PerDocument<Mask>;
};
template <class R> struct Block : monomorph::DecoderBlock<R> {
  template <class Recipe> using rules = monomorph::RuleList<Own<3>>;
};
struct BlockCase : Control {
  using layers = monomorph::Stack<monomorph::Run<Block, 6>>;
};
MONOMORPH_SPEC(OwnSpec<0>, decoder);
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnKind<0, LayerParts> {
  template <class R> using rules = RuleList<Own<6>>;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<WithinOthers>());
static_assert(monomorph::admit<BlockCase>());
static_assert(monomorph::admit<OwnRecipe<0>>());
