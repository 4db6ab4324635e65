// That collectives go on beside compute, shown on a communicator that delays them as far as the schedule lets it.
#include "distributed/take_step.hpp"
#include "support/communicators.hpp"
#include "support/late_communicator.hpp"
#include "support/ranks.hpp"
#include "support/tensors.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/optim/by_class.hpp>
#include <monomorph/runtime/machine/trace.hpp>

#include <string_view>

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

using Row = TraceRow;
using Span = Trace::Event;

constexpr int n_steps = 2;

/// All that rank 0 does in its first steps.
template <Recipe R> std::vector<Span> late_spans(int ranks) {
  std::vector<Span> spans;
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), DType::fp32);
    LateCommunicator late(*communicator);
    Trace trace;
    late.record(&trace);
    {
      train::Step<R> step(late, 1, 3);
      for (int i = 0; i < n_steps; ++i) take_step(step, 1, PolicyHparams::of<typename R::optimizer::Hparams>());
    }
    if (world.rank() == 0) spans = trace.events();
  });
  return spans;
}

/// With six blocks, so that ranks use each place of whole gradients again for a later round.
template <class R> struct Deep : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.n_layers = 6;
    return model;
  }();
};
template <class R> struct ByMuon : R { using optimizer = optim::ByClass<optim::Muon, optim::AdamW>; };

/// Units whose matrices rank 0 transforms, in its first step.
std::vector<int> transformed_units(const std::vector<Span>& spans) {
  std::vector<int> units;
  for (const Span& span : spans)
    if (span.row == Row::compute && span.what == std::string_view("transform")) units.push_back(span.unit);
  units.resize(units.size() / n_steps);
  return units;
}

/// In every step, a collective of `unit` is on its way all the time that `what` is computed for another one.
void check_hidden(const std::vector<Span>& spans, Row row, int unit, std::string_view what, int behind) {
  CAPTURE(static_cast<int>(row), unit, what, behind);
  int n_computed = 0;
  for (const Span& compute : spans) {
    if (compute.row != Row::compute || compute.what != what || compute.unit != behind) continue;
    ++n_computed;
    CHECK(std::ranges::any_of(spans, [&](const Span& span) {
      return span.row == row && span.unit == unit && span.begin <= compute.begin && compute.end <= span.end;
    }));
  }
  CHECK(n_computed == n_steps);
}

template <Recipe R> void check_overlap(int ranks) {
  using Sharding = typename R::sharding;
  CAPTURE(monomorph::type_name<Sharding>(), ranks);
  constexpr int last = plan::n_units<R> - 1, last_block = plan::n_blocks<R>;
  const std::vector<Span> spans = late_spans<R>(ranks);
  if constexpr (splits_optimizer<Sharding>) {
    for (int u = 0; u < last; ++u) check_hidden(spans, Row::all_gather, u + 1, "forward", u);
    const int first_needed = Sharding::splits_parameters ? 1 : last - 1;
    for (int u = 0; u <= first_needed; ++u) check_hidden(spans, Row::all_gather, u, "update", u + 1);
  }
  if constexpr (Sharding::splits_parameters)
    for (int u = last_block; u > 1; --u) check_hidden(spans, Row::all_gather, u - 1, "backward", u);
  for (int u = last; u > 0; --u) check_hidden(spans, Row::reduce_scatter, u, "backward", u - 1);
}

template <Recipe R> void check_strategies_overlap() {
  check_overlap<Sharded<R, sharding::Replicate>>(2);
  check_overlap<Sharded<R, sharding::ShardOptimizer>>(2);
  check_overlap<Sharded<R, sharding::ShardGradOp>>(2);
  check_overlap<Sharded<R, sharding::FullShard>>(2);
  check_overlap<Sharded<R, sharding::HybridShard<2>>>(4);
  check_overlap<Sharded<R, sharding::HybridShardGradOp<2>>>(4);
  check_overlap<Sharded<R, sharding::ReduceOncePerStep<sharding::FullShard>>>(2);
}

/// What each rank holds after three steps of two micro-batches.
template <Recipe R> std::vector<std::uint64_t> trained(int ranks, bool late) {
  std::vector<std::uint64_t> hashes(ranks);
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), R::precision::reduce_dtype);
    LateCommunicator as_late_as_can_be(*communicator);
    train::Step<R> step(late ? static_cast<Communicator&>(as_late_as_can_be) : *communicator, 1, 3);
    for (int i = 0; i < 3; ++i) take_step(step, 2, PolicyHparams::of<typename R::optimizer::Hparams>());
    hashes[world.rank()] = hash_of(step.parameters());
  });
  return hashes;
}

template <class Strategy, class Base = llama_like> void check_late(int ranks) {
  CAPTURE(monomorph::type_name<Strategy>(), monomorph::type_name<typename Base::optimizer>(), ranks);
  CHECK(trained<Sharded<Base, Strategy>>(ranks, true) == trained<Sharded<Base, Strategy>>(ranks, false));
}

/// Two ranks of which the other one has gone.
class FailedCommunicator final : public IdleCommunicator {
 public:
  std::vector<int> waited;

 private:
  void finish(int unit) override {
    waited.push_back(unit);
    throw std::runtime_error("rank 1 has gone");
  }
};

}  // namespace

TEST_CASE("the next unit is gathered while one computes or is updated, gradients leave while blocks below run: tied") {
  check_strategies_overlap<gpt2_like>();
}
TEST_CASE(
    "the next unit is gathered while one computes or is updated, gradients leave while blocks below run: untied") {
  check_strategies_overlap<llama_like>();
}

TEST_CASE("compute reads nothing that a collective may still write, and writes nothing that one may still read") {
  check_late<sharding::Replicate>(2);
  check_late<sharding::ShardOptimizer>(2);
  check_late<sharding::ShardGradOp>(2);
  check_late<sharding::FullShard>(2);
  check_late<sharding::HybridShard<2>>(4);
  check_late<sharding::HybridShardGradOp<2>>(4);
  check_late<sharding::ReduceOncePerStep<sharding::FullShard>>(2);
  check_late<sharding::FullShard, ByMuon<Deep<llama_like>>>(2);
  check_late<sharding::HybridShardGradOp<2>, ByMuon<Deep<gpt2_like>>>(4);
  check_late<sharding::FullShard, ByMuon<gpt2_like>>(3);
}

TEST_CASE(
    "ranks that share units share the work of transforming them, and exchange them while others are transformed") {
  const auto check = []<class Strategy>(std::type_identity<Strategy>) {
    CAPTURE(monomorph::type_name<Strategy>());
    const std::vector<Span> spans = late_spans<Sharded<ByMuon<gpt2_like>, Strategy>>(2);
    CHECK(transformed_units(spans) == std::vector<int>{1, 3});  // of blocks 1 to 4
    check_hidden(spans, Row::all_gather, 3, "transform", 1);    // the next round comes
    check_hidden(spans, Row::all_gather, 1, "transform", 3);    // what the first has become goes
  };
  check(std::type_identity<sharding::ShardOptimizer>{});
  check(std::type_identity<sharding::FullShard>{});
  const auto alone = late_spans<Sharded<ByMuon<gpt2_like>, sharding::Replicate>>(2);
  CHECK(transformed_units(alone) == std::vector<int>{1, 2, 3, 4});
  const auto on_three = late_spans<Sharded<ByMuon<gpt2_like>, sharding::FullShard>>(3);
  CHECK(transformed_units(on_three) == std::vector<int>{1, 4});
}

TEST_CASE("a step that ends waits for every unit's collectives, whichever of them have failed") {
  FailedCommunicator communicator;
  { const train::Step<Sharded<gpt2_like, sharding::FullShard>> step(communicator, 1, 3); }
  CHECK(communicator.waited == std::vector<int>{0, 1, 2, 3, 4});
}

}  // namespace monomorph::testing
