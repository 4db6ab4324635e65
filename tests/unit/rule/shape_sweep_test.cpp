// Rules about blocks of a shape of their own: those about the sizes of models, and what layers share.
#include "sweep.hpp"

namespace {

using namespace monomorph;
using namespace monomorph::testing;

struct Base {
  static constexpr DecoderSpec model{
      .vocab_size = 64, .n_layers = 2, .n_heads = 4, .d_model = 64, .context_length = 16, .position = Position::rotary};
  static constexpr BlockShape shape{.n_heads = 4, .n_kv_heads = 2, .head_dim = 16, .d_ff = 128};
  using layers = Stack<Run<Shaped<shape>::Block, 2>>;
  using sharding = monomorph::sharding::FullShard;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = optim::AdamW;
};
template <int field, int i> struct ShapeField {
  template <class R> struct in : R {
    static constexpr BlockShape shape = changed(R::shape, field, i);
    using layers = Stack<Run<Shaped<shape>::template Block, 2>>;
  };
};

struct Shapes {
  using Base = ::Base;
  static constexpr int n_changes = n_fields(Base::shape) * n_values;
  template <int i> using Change = ShapeField<i / n_values, i % n_values>;
  template <class R> static consteval auto rules() { return rule::shape_rules<R>(); }
  template <class R> static consteval int stage() { return 1; }
  static constexpr bool is_paired(int, int) { return true; }
  static constexpr bool overlap(int a, int b) { return a / n_values == b / n_values; }
};
using Swept = Sweep<Shapes>;
[[maybe_unused]] const int told = Swept::tell();

}  // namespace

TEST_CASE("the shape to break breaks nothing") {
  INFO(text(Swept::broken<Base>));
  CHECK(Swept::broken<Base>.n == 0);
}

TEST_CASE("rules about sizes are broken alone by one change of a shape") {
  Broken found;
  for (int i = 0; i < Swept::selected.n; ++i) found.add(Swept::alone[Swept::selected.changes[i]].names[0], {});
  INFO(text(found));
  for (const char* rule : {"FeedForwardWidthInRange", "HeadDimIsOfOneHead", "HeadsInRange", "KeyHeadsDivideHeads",
                           "ShapeKeepsRotaryWidth"})
    CHECK(found.has(std::string("monomorph::rule::") + rule));
}

TEST_CASE("two changes of a shape break the rules of both") {
  Swept swept;
  swept.check_pairs();
  CHECK(swept.n_pairs >= 10);
}
