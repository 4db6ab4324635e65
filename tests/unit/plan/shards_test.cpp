#include "support.hpp"
#include "support/catch.hpp"

#include <algorithm>

using namespace monomorph;

namespace {
template <class Sharding> struct OptionsShardedBy : EveryOption { using sharding = Sharding; };
constexpr int degrees[] = {1, 2, 3, 5, 8, 64, 1000};
}  // namespace

TEST_CASE("how many parts each strategy makes of a unit") {
  CHECK(plan::Shards<OptionsShardedBy<sharding::Replicate>>(8).shards == 1);
  CHECK(plan::Shards<OptionsShardedBy<sharding::ShardOptimizer>>(8).shards == 8);
  CHECK(plan::Shards<OptionsShardedBy<sharding::ShardGradOp>>(8).shards == 8);
  CHECK(plan::Shards<OptionsShardedBy<sharding::FullShard>>(8).shards == 8);
  CHECK(plan::Shards<OptionsShardedBy<sharding::HybridShard<4>>>(8).shards == 4);
  CHECK(plan::Shards<OptionsShardedBy<sharding::HybridShardGradOp<4>>>(8).shards == 4);
  CHECK(plan::Shards<OptionsShardedBy<sharding::HybridShard<4>>>(1).shards == 1);
}

TEMPLATE_TEST_CASE("shards are multiples of 64 elements and cover their unit", "", sharding::Replicate,
                   sharding::ShardOptimizer, sharding::ShardGradOp, sharding::FullShard, sharding::HybridShard<2>,
                   sharding::HybridShardGradOp<8>) {
  using R = OptionsShardedBy<TestType>;
  for (const int dp : degrees) {
    const plan::Shards<R> shards(dp);
    std::int64_t end = 0;
    for (int unit = 0; unit < plan::n_units<R>; ++unit) {
      INFO("dp " << dp << " unit " << unit);
      const std::int64_t part = shards.part[unit];
      CHECK(shards.tree[unit].offset == end);
      CHECK(shards.tree[unit].shape.elements() == part);
      CHECK(part % 64 == 0);
      const std::int64_t whole = part * shards.shards, needed = plan::unit_layout<R>(unit).elements;
      CHECK(whole >= needed);
      CHECK(whole - needed < 64 * shards.shards);  // no more padding than that
      CHECK(shards.params.whole[unit].shape.elements() == whole);
      CHECK(shards.gradients.whole[unit].shape.elements() == whole);
      end += part;
    }
    CHECK(shards.tree_buffer.elements == end);
  }
}

TEST_CASE("a unit in use and the next one in flight do not share memory") {
  using R = OptionsShardedBy<sharding::FullShard>;
  for (const int dp : degrees) {
    if (dp == 1) continue;
    const plan::Shards<R> shards(dp);
    for (int unit = 0; unit + 1 < plan::n_units<R>; ++unit) {
      const auto a = shards.params.whole[unit], b = shards.params.whole[unit + 1];
      const bool apart = a.offset + a.shape.elements() <= b.offset || b.offset + b.shape.elements() <= a.offset;
      CHECK(apart);
    }
  }
}

namespace {
/// The parameters and gradients of which a rank keeps its shard apart from the whole.
template <class Sharding> std::pair<int, int> kept_apart(int dp) {
  using R = OptionsShardedBy<Sharding>;
  const plan::Shards<R> shards(dp);
  const auto count = [](const auto& places) {
    return static_cast<int>(std::ranges::count_if(places.apart, [](Slice slice) { return slice.present(); }));
  };
  return {count(shards.params), count(shards.gradients)};
}
}  // namespace

TEST_CASE("a shard is a part of the whole, unless the whole comes and goes") {
  constexpr int n = plan::n_units<EveryOption>;
  CHECK(kept_apart<sharding::FullShard>(1) == std::pair(0, 0));
  CHECK(kept_apart<sharding::ShardOptimizer>(4) == std::pair(0, 0));
  CHECK(kept_apart<sharding::ShardGradOp>(4) == std::pair(0, n));
  CHECK(kept_apart<sharding::FullShard>(4) == std::pair(n, n));
  CHECK(kept_apart<sharding::ReduceOncePerStep<sharding::FullShard>>(4) == std::pair(n, 0));
}

namespace {
template <class Finetuning> struct Finetuned : OptionsShardedBy<sharding::FullShard> { using finetuning = Finetuning; };
}  // namespace

TEST_CASE("frozen units have no gradients, and no level of a tree") {
  using R = Finetuned<finetuning::FreezeFirst<2>>;
  const plan::Shards<R> shards(4);
  for (int unit = 0; unit < plan::n_units<R>; ++unit) {
    CAPTURE(unit);
    const bool trains = unit >= 3;  // the embedding and two blocks are frozen
    CHECK(plan::trains<R>(unit) == trains);
    CHECK(plan::backward_reaches<R>(unit) == trains);
    CHECK(shards.gradients.whole[unit].present() == trains);
    CHECK(shards.tree[unit].present() == trains);
    CHECK(shards.params.whole[unit].present());
  }
  CHECK(plan::lowest_trained<Finetuned<finetuning::HeadOnly>> == plan::head_unit<EveryOption>);
  CHECK(plan::lowest_trained<EveryOption> == 0);
}
