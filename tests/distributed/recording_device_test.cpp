// Several ranks on devices whose kernels run later than they are called, in memories of their own: the same bits as on
// CPUs, however early or late collectives and copies are.
#include "support/recording_device.hpp"
#include "distributed/encoder_like.hpp"
#include "distributed/take_step.hpp"
#include "support/late_communicator.hpp"
#include "support/ranks.hpp"
#include "support/tensors.hpp"

#include <monomorph/core/type_name.hpp>
#include <monomorph/optim/by_class.hpp>

#include <set>

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

using recorder::Recorder;
using Timing = Transfers::Timing;

/// A communicator whose collectives are as early as they may be. They run beside kernels, and are done whenever the
/// memory that they use goes out of reach.
class EarlyCommunicator final : public ForwardingCommunicator {
 public:
  explicit EarlyCommunicator(Communicator& communicator) : ForwardingCommunicator(communicator) {
    Recorder::the().join(this, [this] {
      for (const int unit : std::exchange(started_, {})) this->communicator().wait(unit);
    });
  }
  EarlyCommunicator(const EarlyCommunicator&) = delete;
  ~EarlyCommunicator() override { Recorder::the().leave(this); }

 private:
  void start_all_gather(std::span<const UnitGather> units) override {
    for (const UnitGather& one : units) started_.insert(one.unit);
    communicator().all_gather(units);
  }
  void start_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) override {
    started_.insert(unit);
    communicator().reduce_scatter(unit, unsharded, shard, reduction);
  }
  void start_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) override {
    started_.insert(unit);
    communicator().all_to_all(unit, sent, received);
  }
  std::set<int> started_;
};

/// What a rank has after three steps of two micro-batches, with an evaluation behind each.
struct Trained {
  std::vector<std::uint64_t> hashes;
  std::vector<double> losses;
  friend bool operator==(const Trained&, const Trained&) = default;
};

template <Recipe R> Trained trained(Communicator& communicator, const Sequences& data, int tree_levels, Timing timing) {
  constexpr std::int64_t T = R::model.context_length;
  train::Step<R> step(communicator, 1, 3, tree_levels, {}, timing);
  const auto hparams = PolicyHparams::of<typename R::optimizer::Hparams>();
  Trained result;
  for (const int number : {1, 2, 3}) {
    for (const std::int64_t i : {0, 1})
      step.accumulate(data.from(2 * i + communicator.rank() % 2, T), number, {.index = i, .count = 2});
    const train::Ticket ticket = step.decide({.max_norm = 0.5});
    step.update(hparams, {});
    result.losses.push_back(step.evaluate(data.from(1, T)).loss);
    const StepOutcome outcome = step.read(ticket);
    result.losses.push_back(outcome.loss);
    result.losses.push_back(outcome.gradient_norm);
  }
  for (auto tensors : {step.parameters(), step.gradients(), step.optimizer_state()}) {
    std::vector<HostBuffer> buffers;
    result.hashes.push_back(hash_of(downloaded(std::move(tensors), step, buffers)));
  }
  return result;
}

/// By rank.
template <class Delayed, Recipe R>
std::vector<Trained> trained(int ranks, const Sequences& data, int tree_levels, Timing timing) {
  std::vector<Trained> results(ranks);
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(R::sharding::optimizer_shards(ranks), R::precision::reduce_dtype);
    Delayed delayed(*communicator);
    results[world.rank()] = trained<R>(delayed, data, tree_levels, timing);
  });
  return results;
}

/// @tparam Base the same without what waits in the host's memory
template <Recipe R, Recipe Base = R>
void check_same(int ranks, const Sequences& data = sequences, int tree_levels = 0) {
  CAPTURE(monomorph::type_name<typename R::sharding>(), monomorph::type_name<typename R::checkpointing>(),
          monomorph::type_name<typename R::optimizer>(), ranks, tree_levels);
  using Recorded = On<R, recorder::Device>;
  const auto expected = trained<ForwardingCommunicator, Base>(ranks, data, tree_levels, Timing::at_once);
  CHECK(trained<EarlyCommunicator, Recorded>(ranks, data, tree_levels, Timing::at_once) == expected);
  CHECK(trained<LateCommunicator, Recorded>(ranks, data, tree_levels, Timing::late) == expected);
}

template <class R> void check_strategies() {
  check_same<Sharded<R, sharding::Replicate>>(2);
  check_same<Sharded<R, sharding::ShardOptimizer>>(2);
  check_same<Sharded<R, sharding::ShardGradOp>>(2);
  check_same<Sharded<R, sharding::FullShard>>(2);
  check_same<Sharded<R, sharding::HybridShard<2>>>(4);
  check_same<Sharded<R, sharding::HybridShardGradOp<2>>>(4);
  check_same<Sharded<R, sharding::ReduceOncePerStep<sharding::FullShard>>>(2);
}

template <class R, class Optimizer> struct OptimizedBy : R { using optimizer = Optimizer; };
template <class R> struct Offloaded : R { using checkpointing = checkpointing::Offload<>; };

template <class R, class Strategy>
using InHostMemory =
    OptimizedBy<Sharded<R, sharding::HostParameters<Strategy>>, optim::HostState<typename R::optimizer>>;

}  // namespace

TEST_CASE("ranks whose devices run behind their hosts train to the same bits under every strategy: tied head") {
  check_strategies<gpt2_like>();
}
TEST_CASE("ranks whose devices run behind their hosts train to the same bits under every strategy: untied, bf16") {
  check_strategies<InBf16<llama_like>>();
}
TEST_CASE("ranks whose devices run behind their hosts train to the same bits: the fixed tree") {
  check_same<Sharded<gpt2_like, sharding::FullShard>>(2, sequences, plan::tree_levels(2));
  check_same<Sharded<gpt2_like, sharding::Replicate>>(2, sequences, plan::tree_levels(2));
}
TEST_CASE("ranks whose devices run behind their hosts train to the same bits: matrices that the optimizer sees whole") {
  using Muon = optim::ByClass<optim::Muon, optim::AdamW>;
  check_same<OptimizedBy<Sharded<gpt2_like, sharding::ShardOptimizer>, Muon>>(2);
  check_same<OptimizedBy<Sharded<gpt2_like, sharding::FullShard>, Muon>>(3);
  check_same<OptimizedBy<Sharded<gpt2_like, sharding::FullShard>, optim::HostState<Muon>>>(2);
}
TEST_CASE("ranks whose devices run behind their hosts train to the same bits: what waits in the hosts' memory") {
  using base = Sharded<InBf16<llama_like>, sharding::FullShard>;
  check_same<OptimizedBy<Offloaded<base>, optim::HostState<optim::AdamW>>, base>(2);
}
TEST_CASE("ranks whose devices run behind their hosts train to the same bits: parameters in the hosts' memory") {
  using sharding::FullShard, sharding::HybridShard, sharding::Replicate;
  using untied = InBf16<llama_like>;
  check_same<InHostMemory<gpt2_like, FullShard>, Sharded<gpt2_like, FullShard>>(2);
  check_same<InHostMemory<untied, FullShard>, Sharded<untied, FullShard>>(2);
  check_same<InHostMemory<untied, HybridShard<2>>, Sharded<untied, HybridShard<2>>>(4);
  check_same<InHostMemory<untied, Replicate>, Sharded<untied, Replicate>>(2);
  check_same<Offloaded<InHostMemory<llama_like, FullShard>>, Sharded<llama_like, FullShard>>(2);
}
TEST_CASE("ranks whose devices run behind their hosts train to the same bits: embeddings that all ranks compare") {
  check_same<Sharded<encoder_like, sharding::FullShard>>(2, pairs());
}

}  // namespace monomorph::testing
