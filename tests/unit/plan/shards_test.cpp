#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

namespace {
template <class Sharding> struct OptionsShardedBy : EveryOption { using sharding = Sharding; };
constexpr int degrees[] = {1, 2, 3, 5, 8, 64, 1000};
}  // namespace

TEST_CASE("how many parts each strategy makes of a unit") {
  CHECK(plan::Shards<OptionsShardedBy<sharding::Replicate>>(8).shards == 1);
  CHECK(plan::Shards<OptionsShardedBy<sharding::ShardGradOp>>(8).shards == 8);
  CHECK(plan::Shards<OptionsShardedBy<sharding::FullShard>>(8).shards == 8);
  CHECK(plan::Shards<OptionsShardedBy<sharding::HybridShard<4>>>(8).shards == 4);
  CHECK(plan::Shards<OptionsShardedBy<sharding::HybridShardGradOp<4>>>(8).shards == 4);
  CHECK(plan::Shards<OptionsShardedBy<sharding::HybridShard<4>>>(1).shards == 1);
}

TEMPLATE_TEST_CASE("shards are multiples of 64 elements and cover their unit", "", sharding::Replicate,
                   sharding::ShardGradOp, sharding::FullShard, sharding::HybridShard<2>,
                   sharding::HybridShardGradOp<8>) {
  using R = OptionsShardedBy<TestType>;
  for (const int dp : degrees) {
    const plan::Shards<R> shards(dp);
    std::int64_t end = 0;
    for (int unit = 0; unit < plan::n_units<R>; ++unit) {
      INFO("dp " << dp << " unit " << unit);
      const auto part = shards.shard[unit];
      CHECK(part.offset == end);
      CHECK(part.shape.elements() % 64 == 0);
      const std::int64_t whole = part.shape.elements() * shards.shards, needed = plan::unit_layout<R>(unit).elements;
      CHECK(whole >= needed);
      CHECK(whole - needed < 64 * shards.shards);  // no more padding than that
      CHECK(shards.unsharded_params[unit].shape.elements() == whole);
      CHECK(shards.unsharded_gradients[unit].shape.elements() == whole);
      end += part.shape.elements();
    }
    CHECK(shards.shard_buffer.elements == end);
  }
}

TEST_CASE("a unit in use and the next one in flight do not share memory") {
  using R = OptionsShardedBy<sharding::FullShard>;
  for (const int dp : degrees) {
    if (dp == 1) continue;
    const plan::Shards<R> shards(dp);
    for (int unit = 0; unit + 1 < plan::n_units<R>; ++unit) {
      const auto a = shards.unsharded_params[unit], b = shards.unsharded_params[unit + 1];
      const bool apart = a.offset + a.shape.elements() <= b.offset || b.offset + b.shape.elements() <= a.offset;
      CHECK(apart);
    }
  }
}

TEST_CASE("at one rank every strategy reads a unit where it lies") {
  const plan::Shards<OptionsShardedBy<sharding::FullShard>> shards(1);
  CHECK(shards.unsharded_params_buffer.elements == 0);
  CHECK(shards.unsharded_gradients_buffer.elements == 0);
  for (int unit = 0; unit < plan::n_units<EveryOption>; ++unit)
    CHECK(shards.unsharded_params[unit].offset == shards.shard[unit].offset);
}
