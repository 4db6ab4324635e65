#include "numerics/schedule_recipes.hpp"
#include "support/adamw_step.hpp"
#include "support/catch.hpp"
#include "support/ranks.hpp"
#include "support/tensors.hpp"
#include "train/step_totals.hpp"

#include <functional>
#include <map>
#include <utility>

namespace monomorph::testing {
namespace {

constexpr std::int64_t T = gpt2_like::model.context_length;

plan::Traffic minus(plan::Traffic a, const plan::Traffic& b) {
  const auto subtract = [](plan::CollectiveTraffic& x, const plan::CollectiveTraffic& y) {
    x.collectives -= y.collectives;
    x.bytes -= y.bytes;
  };
  subtract(a.gathers, b.gathers);
  subtract(a.reductions, b.reductions);
  subtract(a.replica_reductions, b.replica_reductions);
  return a;
}

void take_step(train::TrainingStep& step, std::int64_t micro_batches) {
  for (std::int64_t i = 0; i < micro_batches; ++i) step.accumulate(sequences.from(i % 4, T), 1, {i, micro_batches});
  step.gradient_size(train::GradientNorm::two);
  step.update(adamw_step(1, 1));
}

/// What one step sends, measured on every rank after a first one.
template <Recipe R> std::vector<plan::Traffic> measured(int ranks, std::int64_t micro_batches, DType wire) {
  std::vector<plan::Traffic> traffic(ranks);
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::param_shards(ranks), wire);
    train::Step<R> step(*communicator, 1, 3);
    take_step(step, micro_batches);
    const plan::Traffic before = communicator->traffic();
    take_step(step, micro_batches);
    traffic[world.rank()] = minus(communicator->traffic(), before);
  });
  return traffic;
}

template <Recipe R> plan::Traffic check_traffic(int ranks, std::int64_t micro_batches) {
  CAPTURE(R::sharding::name, ranks, micro_batches);
  const std::vector<plan::Traffic> traffic = measured<R>(ranks, micro_batches, DType::fp32);
  for (int rank = 0; rank < ranks; ++rank) {
    CAPTURE(rank);
    const plan::Traffic planned = plan::traffic<R>(ranks, rank, micro_batches, DType::fp32);
    CHECK(traffic[rank].gathers == planned.gathers);
    CHECK(traffic[rank].reductions == planned.reductions);
    CHECK(traffic[rank].replica_reductions == planned.replica_reductions);
  }
  return traffic[0];
}

template <Recipe R> void check_strategies() {
  for (const std::int64_t micro_batches : {1, 3}) {
    const auto replicate = check_traffic<Sharded<R, sharding::Replicate>>(2, micro_batches);
    CHECK(replicate.gathers.collectives == 0);
    CHECK(replicate.reductions.collectives == 0);
    const auto zero2 = check_traffic<Sharded<R, sharding::ShardGradOp>>(2, micro_batches);
    const auto zero3 = check_traffic<Sharded<R, sharding::FullShard>>(2, micro_batches);
    CHECK(zero2.gathers.collectives < zero3.gathers.collectives);
    CHECK(zero2.reductions == zero3.reductions);
    check_traffic<Sharded<R, sharding::ReduceOncePerStep<sharding::FullShard>>>(2, micro_batches);
    const auto hybrid = check_traffic<Sharded<R, sharding::HybridShard<2>>>(4, micro_batches);
    const auto full = check_traffic<Sharded<R, sharding::FullShard>>(4, micro_batches);
    CHECK(hybrid.gathers.collectives == full.gathers.collectives);
    CHECK(hybrid.gathers.bytes < full.gathers.bytes);
    CHECK(hybrid.replica_reductions.collectives > 0);
    CHECK(full.replica_reductions.collectives == 0);
    check_traffic<Sharded<R, sharding::HybridShardGradOp<2>>>(4, micro_batches);
  }
}

}  // namespace

TEST_CASE("every rank sends what the plan says, collective by collective: tied head") { check_strategies<gpt2_like>(); }
TEST_CASE("every rank sends what the plan says, collective by collective: head of its own") {
  check_strategies<llama_like>();
}

namespace {

struct Event {
  enum Kind { gather, reduce, wait_begins, wait_ends } kind;
  int unit;
};

/// Writes down what is started and waited for, in order.
class RecordingCommunicator final : public Communicator {
 public:
  explicit RecordingCommunicator(std::vector<Event>& events) : events_(events) {}
  int rank() const override { return 0; }
  int size() const override { return 2; }
  int shards() const override { return 2; }
  plan::Traffic traffic() const override { return {}; }

 private:
  void start_gather(int unit, View, View) override { events_.push_back({Event::gather, unit}); }
  void start_reduce(int unit, View, View, Reduction) override { events_.push_back({Event::reduce, unit}); }
  void note_release(int) override {}
  void finish(int unit) override { events_.push_back({Event::wait_begins, unit}); }
  void sum_words(std::span<std::int64_t>) override {}
  std::vector<Event>& events_;
};

std::ptrdiff_t place(const std::vector<Event>& events, Event::Kind kind, int unit, std::ptrdiff_t from = 0) {
  for (std::ptrdiff_t i = from; i < std::ssize(events); ++i)
    if (events[i].kind == kind && events[i].unit == unit) return i;
  return -1;
}

}  // namespace

TEST_CASE("the schedule starts a collective before the compute that hides it, and waits for it after") {
  std::vector<Event> events;
  RecordingCommunicator communicator(events);
  train::Step<Sharded<llama_like, sharding::FullShard>> step(communicator, 1, 3);
  step.accumulate(sequences.from(0, T), 1, {});
  constexpr int L = 4, head = L + 1;
  // Forward: while unit u computes, which begins when its wait is over, the gather of u + 1 is on its way.
  for (int u = 1; u <= L; ++u) {
    CAPTURE(u);
    CHECK(place(events, Event::gather, u + 1) < place(events, Event::wait_begins, u));
  }
  // Backward: the gather of the block below is on its way while a block computes, and so is the reduction of the one
  // above, for which nobody waits before a unit needs its place.
  const std::ptrdiff_t backward = place(events, Event::reduce, head);
  REQUIRE(backward > 0);
  for (int u = L; u > 1; --u) {
    CAPTURE(u);
    const std::ptrdiff_t compute = place(events, Event::wait_begins, u, backward);
    CHECK(place(events, Event::gather, u - 1, backward) < compute);
    const std::ptrdiff_t reduced = place(events, Event::reduce, u, backward);
    CHECK(compute < reduced);
    CHECK(reduced < place(events, Event::wait_begins, u - 1, backward));
    const std::ptrdiff_t waited = place(events, Event::wait_begins, u, reduced);
    CHECK((waited < 0 || waited > place(events, Event::wait_begins, u - 1, reduced)));
  }
}

namespace {

/// A communicator whose collectives are as late as they may be: they run when somebody waits for their unit.
class LateCommunicator final : public Communicator {
 public:
  explicit LateCommunicator(Communicator& communicator) : communicator_(communicator) {}
  int rank() const override { return communicator_.rank(); }
  int size() const override { return communicator_.size(); }
  int shards() const override { return communicator_.shards(); }
  plan::Traffic traffic() const override { return communicator_.traffic(); }

 private:
  void start_gather(int unit, View own, View whole) override {
    late_[unit].emplace_back([this, unit, own, whole] { communicator_.gather(unit, own, whole); });
  }
  void start_reduce(int unit, View whole, View own, Reduction reduction) override {
    late_[unit].emplace_back(
        [this, unit, whole, own, reduction] { communicator_.reduce(unit, whole, own, reduction); });
  }
  void note_release(int unit) override { communicator_.release(unit); }
  void finish(int unit) override {
    for (const auto& collective : std::exchange(late_[unit], {})) {
      collective();
      communicator_.wait(unit);
    }
  }
  void sum_words(std::span<std::int64_t> words) override { communicator_.sum(words); }

  Communicator& communicator_;
  std::map<int, std::vector<std::function<void()>>> late_;
};

/// What each rank holds after three steps of two micro-batches.
template <Recipe R> std::vector<std::uint64_t> trained(int ranks, bool late) {
  std::vector<std::uint64_t> hashes(ranks);
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::param_shards(ranks), R::precision::reduce_dtype);
    LateCommunicator as_late_as_can_be(*communicator);
    train::Step<R> step(late ? static_cast<Communicator&>(as_late_as_can_be) : *communicator, 1, 3);
    for (int i = 0; i < 3; ++i) take_step(step, 2);
    hashes[world.rank()] = hash_of(step.parameters());
  });
  return hashes;
}

template <class Strategy> void check_late(int ranks) {
  CAPTURE(Strategy::name, ranks);
  CHECK(trained<Sharded<llama_like, Strategy>>(ranks, true) == trained<Sharded<llama_like, Strategy>>(ranks, false));
}

}  // namespace

TEST_CASE("compute reads nothing that a collective may still write, and writes nothing that one may still read") {
  check_late<sharding::Replicate>(2);
  check_late<sharding::ShardGradOp>(2);
  check_late<sharding::FullShard>(2);
  check_late<sharding::HybridShard<2>>(4);
  check_late<sharding::HybridShardGradOp<2>>(4);
  check_late<sharding::ReduceOncePerStep<sharding::FullShard>>(2);
}

}  // namespace monomorph::testing
