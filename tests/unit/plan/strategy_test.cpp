#include <monomorph/core/type_name.hpp>
#include <monomorph/plan/planned_recipe.hpp>
#include "support.hpp"
#include "support/catch.hpp"

#include <set>
#include <utility>

using namespace monomorph;

namespace {

template <class Base, class Sharding> struct ShardedBy : Base { using sharding = Sharding; };
template <class Base> struct StateOnHost : Base { using optimizer = optim::HostState<typename Base::optimizer>; };
template <class Base, class Checkpointing> struct RecomputingBy : Base { using checkpointing = Checkpointing; };
struct OptionsInBf16 : EveryOption {
  using precision = monomorph::precision::Bf16Mixed;
  using optimizer = monomorph::optim::ByClass<monomorph::optim::Muon, monomorph::optim::AdamW>;
};

bool equal(const plan::Memory& a, const plan::Memory& b) {
  const auto fields = [](const plan::Memory& m) {
    return std::array{m.master,        m.compute_params,      m.gathered_params, m.gradients,      m.gathered_gradients,
                      m.gradient_tree, m.optimizer_state,     m.activations,     m.statistics,     m.rotary,
                      m.scalars,       m.optimizer_workspace, m.host_params,     m.host_optimizer, m.host_activations,
                      m.communication};
  };
  return fields(a) == fields(b);
}

/// The plan of R with a policy as a value beside that of a recipe which has it as a type.
template <class R, class Sharding> void check_sharding() {
  using Typed = ShardedBy<R, Sharding>;
  for (const int dp : {1, 2, 4, 8, 64})
    for (const int tree_levels : {0, 2}) {
      plan::Strategy strategy = plan::strategy_of<R>(dp);
      strategy.sharding = plan::sharding_values<Sharding>(dp);
      CAPTURE(dp, tree_levels, type_name<Sharding>());
      CHECK(equal(plan::memory_with<R>(strategy, dp, 2, tree_levels), plan::memory<Typed>(dp, 2, tree_levels)));
    }
}
template <class R, class Checkpointing> void check_checkpointing() {
  plan::Strategy strategy = plan::strategy_of<R>(4);
  strategy.checkpointing = plan::checkpointing_values<Checkpointing>;
  CAPTURE(type_name<Checkpointing>());
  CHECK(equal(plan::memory_with<R>(strategy, 4, 2), plan::memory<RecomputingBy<R, Checkpointing>>(4, 2)));
}

}  // namespace

TEMPLATE_TEST_CASE("a plan with a sharding policy as a value is that of the policy's type", "", ByHand, Bf16,
                   OptionsInBf16) {
  check_sharding<TestType, sharding::Replicate>();
  check_sharding<TestType, sharding::ShardOptimizer>();
  check_sharding<TestType, sharding::ShardGradOp>();
  check_sharding<TestType, sharding::FullShard>();
  check_sharding<TestType, sharding::HybridShard<4>>();
  check_sharding<TestType, sharding::HybridShardGradOp<4>>();
  check_sharding<TestType, sharding::ReduceOncePerStep<sharding::FullShard>>();
  check_sharding<TestType, sharding::HostParameters<sharding::FullShard>>();
}

TEMPLATE_TEST_CASE("a plan with a checkpointing policy as a value is that of the policy's type", "", ByHand, Bf16,
                   OptionsInBf16) {
  check_checkpointing<TestType, checkpointing::KeepAll>();
  check_checkpointing<TestType, checkpointing::RecomputeCheap>();
  check_checkpointing<TestType, checkpointing::EveryBlock>();
  check_checkpointing<TestType, checkpointing::EveryNthBlock<2>>();
  check_checkpointing<TestType, checkpointing::Fraction<1, 2>>();
  check_checkpointing<TestType, checkpointing::Offload<>>();
  check_checkpointing<TestType, checkpointing::Selective<Recompute{.norm = true, .attention = true}>>();
}

namespace {

/// Bytes for backward that the plan of R has less than without recomputation, against what RecomputedWork says: that of
/// all blocks is not kept, and lies in a place that they share.
template <class R> void check_saved(Recompute again, Recompute (*in_all_blocks)(int block)) {
  constexpr std::int64_t micro_batch = 2;
  plan::Strategy strategy = plan::strategy_of<R>(1);
  strategy.checkpointing.recompute = in_all_blocks;
  const plan::Memory kept = plan::memory<R>(1, micro_batch), chosen = plan::memory_with<R>(strategy, 1, micro_batch);
  const plan::RecomputedWork work = plan::recomputed_work<R>(1, again);
  const double tokens = static_cast<double>(micro_batch * R::model.context_length);
  CAPTURE(number_of(again));
  const auto bytes = [](DType dtype) { return static_cast<double>(size_of(dtype)); };
  constexpr DType compute = R::precision::compute_dtype;
  CHECK(static_cast<double>(kept.activations - chosen.activations) ==
        (plan::n_blocks<R> - 1) * tokens * work.elements * bytes(compute));
  CHECK(static_cast<double>(kept.statistics - chosen.statistics) ==
        (plan::n_blocks<R> - 1) * tokens * work.statistics * bytes(statistics_dtype(compute)));
}
template <class R, unsigned... number> void check_all_saved(std::integer_sequence<unsigned, number...>) {
  (check_saved<R>(recompute_of(number), plan::recompute_always<recompute_of(number)>), ...);
}
/// Whose buffers are multiples of what they are rounded up to.
template <class Precision, BlockOrder order> struct Aligned {
  static constexpr DecoderSpec model{
      .vocab_size = 10, .n_layers = 3, .n_heads = 2, .d_model = 64, .context_length = 64};
  using layers = Stack<Run<Composed<order>::template Block, 3>>;
  using sharding = monomorph::sharding::Replicate;
  using precision = Precision;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

}  // namespace

TEST_CASE("with every choice, the plan has less by what the work of layers says") {
  using monomorph::precision::Fp32, monomorph::precision::Bf16Mixed;
  constexpr auto all = std::make_integer_sequence<unsigned, all_choices + 1>{};
  check_all_saved<Aligned<Fp32, BlockOrder::pre_norm>>(all);
  check_all_saved<Aligned<Bf16Mixed, BlockOrder::post_norm>>(all);
  check_all_saved<Aligned<Bf16Mixed, BlockOrder::parallel>>(all);
}

TEST_CASE("what each choice keeps of a block and token, by hand") {
  using R = ByHand;  // width 64, two heads, an MLP of 256
  const auto elements = [](Recompute again) { return plan::recomputed_work<R>(1, again).elements; };
  const auto statistics = [](Recompute again) { return plan::recomputed_work<R>(1, again).statistics; };
  CHECK(elements({.norm = true}) == 2 * 64);
  CHECK(elements({.activation = true}) == 256);
  CHECK(elements({.qkv = true}) == 3 * 64);
  CHECK(elements({.attention = true}) == 64);
  CHECK(elements({.projection = true}) == 64);  // the residual stream between the parts
  CHECK(elements({.mlp = true}) == 256);
  CHECK(elements(Recompute::block) == 2 * 64 + 256 + 3 * 64 + 64 + 64 + 256);
  CHECK(statistics({.norm = true}) == 0);
  CHECK(statistics({.attention = true}) >= R::model.n_heads);
}

TEST_CASE("selective choices are those between what is cheap and the whole block, the least repeated first") {
  using R = ByHand;
  const auto total = [](Recompute again) {
    return plan::total_work(plan::n_layers<R>, plan::recomputed_work<R>, again);
  };
  const plan::SelectiveChoices sorted = plan::selective_choices(total);
  CHECK(sorted.n == 14);  // all of four choices, but none and all of them
  std::set<unsigned> different;
  for (int i = 0; i < sorted.n; ++i) {
    const Recompute again = sorted.choices[i];
    different.insert(number_of(again));
    CHECK(again.norm);
    CHECK(again.activation);
    if (i > 0) CHECK(total(again).flops >= total(sorted.choices[i - 1]).flops);
  }
  CHECK(different.size() == 14);
  // Of parallel blocks the last products save nothing: three choices are left, and all three together are no whole
  // block.
  using P = Aligned<monomorph::precision::Fp32, BlockOrder::parallel>;
  const plan::SelectiveChoices parallel = plan::selective_choices(
      [](Recompute again) { return plan::total_work(plan::n_layers<P>, plan::recomputed_work<P>, again); });
  CHECK(parallel.n == 7);
  for (int i = 0; i < parallel.n; ++i) CHECK_FALSE(parallel.choices[i].projection);
}

TEMPLATE_TEST_CASE("a plan with a change that saves memory is that of the policies' types", "", ByHand, Bf16,
                   OptionsInBf16) {
  using enum plan::PolicyChange;
  const auto check = []<class Typed>(plan::PolicyChange change, std::type_identity<Typed>) {
    CAPTURE(static_cast<int>(change));
    const plan::Strategy strategy = plan::changed(plan::strategy_of<TestType>(4), change, 4);
    CHECK(equal(plan::memory_with<TestType>(strategy, 4, 2), plan::memory<Typed>(4, 2)));
  };
  using HostState = StateOnHost<TestType>;
  using Every = RecomputingBy<TestType, checkpointing::EveryBlock>;
  check(none, std::type_identity<TestType>{});
  check(recompute_cheap, std::type_identity<RecomputingBy<TestType, checkpointing::RecomputeCheap>>{});
  check(shard_optimizer, std::type_identity<ShardedBy<TestType, sharding::ShardOptimizer>>{});
  check(shard_grad_op, std::type_identity<ShardedBy<TestType, sharding::ShardGradOp>>{});
  check(full_shard, std::type_identity<ShardedBy<TestType, sharding::FullShard>>{});
  check(host_state, std::type_identity<HostState>{});
  check(offload,
        std::type_identity<RecomputingBy<TestType, checkpointing::Offload<typename TestType::checkpointing>>>{});
  constexpr Recompute choice{.norm = true, .attention = true};
  CHECK(equal(plan::memory_with<TestType>(
                  plan::changed(plan::strategy_of<TestType>(4), selective, 4, plan::recompute_always<choice>), 4, 2),
              plan::memory<RecomputingBy<TestType, checkpointing::Selective<choice>>>(4, 2)));
  check(every_block, std::type_identity<Every>{});
  check(full_shard_and_every_block, std::type_identity<ShardedBy<Every, sharding::FullShard>>{});
  check(all_on_host, std::type_identity<ShardedBy<RecomputingBy<HostState, checkpointing::EveryBlock>,
                                                  sharding::HostParameters<sharding::FullShard>>>{});
}

TEST_CASE("the work of layers adds up to the plan of the whole, and has what blocks save by hand") {
  using R = ByHand;
  std::int64_t elements = 0;
  double exact = 0;
  for (int i = 0; i < plan::n_layers<R>; ++i) {
    const plan::LayerWork work = plan::layer_work<R>(i);
    elements += work.unit_elements;
    exact += work.passes_of_products * work.products + work.passes_of_attention * work.attention;
  }
  CHECK(elements == 1024 + 512 + 128 + 2 * (12 * 64 * 64 + 13 * 64));
  CHECK(exact == plan::flops_per_token<R>().exact);

  const plan::LayerWork table = plan::layer_work<R>(0), block = plan::layer_work<R>(1), head = plan::layer_work<R>(3);
  CHECK(table.kind == UnitKind::embedding);
  CHECK(table.is_resident);  // tied
  CHECK(block.kind == UnitKind::block);
  CHECK(block.cheap == 2 * 64 + 256);       // norms' outputs and activated
  CHECK(block.dear == 192 + 2 * 64 + 256);  // qkv, attended, the middle and up
  CHECK(block.gathered_for_backward);
  CHECK_FALSE(plan::layer_work<R>(2).gathered_for_backward);  // stays
  CHECK(head.kind == UnitKind::head);
  CHECK(head.unit_elements == 0);  // the table's unit
  CHECK(head.products == 2 * 10 * 64);
}
