// expect-error: \[MODEL-01\] n_layers must lie in 1\.\.256
// expect-error: \[ATTN-02\] d_model must be a multiple of n_heads
// expect-error: \[ATTN-03\] n_heads must be a multiple of n_kv_heads
// expect-error: \[ATTN-10\] dropout\.attention must be 0
// expect-error: \[MESH-01\] tp, pp and cp must lie in
// expect-error: \[PLAN-05\] budget\.micro_batch must lie in
// expect-error: \[SHARD-01\] HybridShard<n>
// expect-error: \[ACT-02\] Fraction<num, den> must lie in \(0, 1\]
// expect-text: LayersInRange<-3>
// expect-text: HeadsDivideWidth<64, 12, false>
// expect-text: KeyHeadsDivideHeads<12, 5>
// expect-text: DegreesInRange<1, -2, 1>
#include "support/control.hpp"
struct Case : Control {
#if NEGATIVE
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) {
    model.n_layers = -3;
    model.n_heads = 12;
    model.n_kv_heads = 5;
    model.dropout.attention = 0.25;
  });
  static constexpr monomorph::MeshSpec mesh{.pp = -2};
  using sharding = monomorph::sharding::HybridShard<-1>;
  using checkpointing = monomorph::checkpointing::Fraction<1, 0>;
#endif
  static constexpr monomorph::Expect expect{.params = NEGATIVE ? 1 : 321'280};  // the plan waits until the values hold
  static constexpr monomorph::Budget budget{.ranks = 8,
                                            .bytes_per_rank = monomorph::gib(NEGATIVE ? 80 : 1),
                                            .micro_batch = NEGATIVE ? -1 : 1};
};
static_assert(monomorph::admit<Case>());
