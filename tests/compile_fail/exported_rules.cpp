// Rules of a policy's, a block's or a kind of model's own are judged with ours.
// expect-error: \[OWN-01\] of an objective
// expect-error: \[OWN-02\] of an attention policy
// expect-error: \[OWN-03\] of a block
// expect-error: \[OWN-04\] of a schedule
// expect-error: \[OWN-05\] of an observer
// expect-error: \[OWN-06\] of a kind of model
// expect-error: \[OWN-07\] of an optimizer within another
// expect-error: \[OWN-08\] of a mask within another
// expect-error: \[OWN-09\] of an attention part
// expect-error: \[OWN-10\] of an MLP part
// expect-error: \[OWN-11\] of a part in a block of a shape of its own
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
    static_assert(holds || id != 9, "[OWN-09] of an attention part");
    static_assert(holds || id != 10, "[OWN-10] of an MLP part");
    static_assert(holds || id != 11, "[OWN-11] of a part in a block of a shape of its own");
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
template <class R> struct AttentionPart : monomorph::SelfAttention<R> {
  template <class Recipe> using rules = monomorph::RuleList<Own<9>>;
};
template <class R> struct MlpPart : monomorph::DenseMlp<R> {
  template <class Recipe> using rules = monomorph::RuleList<Own<10>>;
};
using monomorph::BlockOrder;
struct PartsCase : Control {
  using layers = monomorph::Stack<
      monomorph::Run<monomorph::Composed<BlockOrder::pre_norm, MlpPart>::Block, 3>,
      monomorph::Run<monomorph::Composed<BlockOrder::parallel, monomorph::DenseMlp, AttentionPart>::Block, 3>>;
};
template <class R> struct PartOfShape : monomorph::DenseMlp<R> {
  template <class Recipe> using rules = monomorph::RuleList<Own<11>>;
};
struct ShapedPartsCase : Control {
  template <class Tower> using Block = monomorph::Composed<BlockOrder::post_norm, PartOfShape>::Block<Tower>;
  using layers =
      monomorph::Stack<monomorph::Run<monomorph::Shaped<monomorph::BlockShape{.d_ff = 96}, Block>::Block, 6>>;
};
MONOMORPH_SPEC(OwnSpec<0>, decoder);
template <> struct monomorph::ModelKind<OwnSpec<0>> : OwnKind<0, LayerParts> {
  template <class R> using rules = RuleList<Own<6>>;
};
static_assert(monomorph::admit<Case>());
static_assert(monomorph::admit<WithinOthers>());
static_assert(monomorph::admit<BlockCase>());
static_assert(monomorph::admit<PartsCase>());
static_assert(monomorph::admit<ShapedPartsCase>());
static_assert(monomorph::admit<OwnRecipe<0>>());
