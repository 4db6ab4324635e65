// What ranks send in a step, counted message by message, against the plan.
#include <monomorph/core/type_name.hpp>

#include "distributed/encoder_like.hpp"
#include "distributed/take_step.hpp"
#include "numerics/teacher.hpp"
#include "runtime/distributed/cpu_communicator.hpp"
#include "support/ranks.hpp"

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

using distributed::Channel;

/// What a rank has sent: in all, and by rank that it went to.
struct Sent {
  plan::Traffic traffic;
  std::vector<std::int64_t> gathered, reduced;
};

Sent sent_by(const distributed::CpuCommunicator& communicator, const distributed::PointToPoint& point_to_point) {
  Sent sent{communicator.traffic(), {}, {}};
  for (int to = 0; to < point_to_point.size(); ++to) {
    sent.gathered.push_back(point_to_point.sent_bytes(to, Channel::all_gather));
    sent.reduced.push_back(point_to_point.sent_bytes(to, Channel::reduce_scatter));
  }
  return sent;
}

Sent minus(Sent a, const Sent& b) {
  const auto subtract = [](plan::CollectiveTraffic& x, const plan::CollectiveTraffic& y) {
    x.collectives -= y.collectives;
    x.bytes -= y.bytes;
  };
  subtract(a.traffic.gathers, b.traffic.gathers);
  subtract(a.traffic.reductions, b.traffic.reductions);
  subtract(a.traffic.replica_reductions, b.traffic.replica_reductions);
  subtract(a.traffic.batch_gathers, b.traffic.batch_gathers);
  for (std::size_t to = 0; to < a.gathered.size(); ++to) {
    a.gathered[to] -= b.gathered[to];
    a.reduced[to] -= b.reduced[to];
  }
  return a;
}

/// How a step's gradients are added up.
struct Sum {
  std::int64_t micro_batches = 1;
  DType wire = DType::fp32;
  bool in_tree = false;
  int tree_levels() const { return in_tree ? plan::tree_levels(micro_batches) : 0; }
};

/// What one step sends, measured on every rank after a first one.
template <Recipe R> std::vector<Sent> measured(int ranks, Sum sum) {
  std::vector<Sent> sent(ranks);
  const Sequences rows = makes_embeddings<R> ? pairs() : sequences;
  with_ranks(ranks, [&](const World& world) {
    auto connected = world.point_to_point("counted/");
    const distributed::PointToPoint& point_to_point = *connected;
    distributed::CpuCommunicator communicator(std::move(connected), world.groups({}).data,
                                              R::sharding::optimizer_shards(ranks), sum.wire);
    train::Step<R> step(communicator, 1, 3, sum.tree_levels());
    if (has_teacher<objective_of<R>>) give_teacher(step);
    const auto sent_in_steps = [&] {
      take_step(step, sum.micro_batches, PolicyHparams::of<typename R::optimizer::Hparams>(), rows);
      for (int u = 0; u < plan::n_stored_units<R>; ++u) communicator.wait(u);
      return sent_by(communicator, point_to_point);
    };
    const Sent before = sent_in_steps();
    sent[world.rank()] = minus(sent_in_steps(), before);
  });
  return sent;
}

/// What a rank sends another one of its group so that matrices are transformed whole, unit after unit: its shard to the
/// rank whose turn it is, or, if it is its own turn, the other one's.
template <Recipe R> std::int64_t exchanged(int rank, int to, int shards) {
  std::int64_t bytes = 0;
  int turn = 0;
  for (int u = 0; u < plan::n_stored_units<R>; ++u) {
    if (!plan::transforms<R>(u)) continue;
    if (turn == rank % shards || turn == to % shards)
      bytes += plan::Shards<R>(shards).part[u] * size_of(R::precision::gradient_dtype);
    turn = (turn + 1) % shards;
  }
  return bytes;
}

/// Every rank of a group sends every other one as much, but for matrices that are transformed, and gathers nowhere
/// else; those outside of it have gradients from the one that holds the same shard.
template <Recipe R> void check_receivers(const Sent& sent, const plan::Traffic& planned, int rank, int shards) {
  std::int64_t of_matrices = 0;
  for (int other = 0; plan::shares_transforms<R> && other < shards; ++other)
    if (other != rank % shards) of_matrices += exchanged<R>(rank, other, shards);
  for (int to = 0; to < static_cast<int>(sent.gathered.size()); ++to) {
    CAPTURE(to);
    const bool in_group = to != rank && to / shards == rank / shards, replica = to % shards == rank % shards;
    std::int64_t gathered = in_group ? (planned.gathers.bytes - of_matrices) / (shards - 1) : 0;
    if (in_group && plan::shares_transforms<R>) gathered += exchanged<R>(rank, to, shards);
    CHECK(sent.gathered[to] == gathered);
    if (in_group) CHECK(sent.reduced[to] == planned.reductions.bytes / (shards - 1));
    if (!in_group && !replica) CHECK(sent.reduced[to] == 0);
  }
}

template <Recipe R> plan::Traffic check_traffic(int ranks, Sum sum) {
  CAPTURE(monomorph::type_name<typename R::sharding>(), ranks, sum.micro_batches, name_of(sum.wire), sum.in_tree);
  const std::vector<Sent> sent = measured<R>(ranks, sum);
  for (int rank = 0; rank < ranks; ++rank) {
    CAPTURE(rank);
    const plan::Traffic planned = plan::traffic<R>(ranks, rank, sum.micro_batches, sum.wire, sum.tree_levels());
    CHECK(sent[rank].traffic.gathers == planned.gathers);
    CHECK(sent[rank].traffic.reductions == planned.reductions);
    CHECK(sent[rank].traffic.replica_reductions == planned.replica_reductions);
    CHECK(sent[rank].traffic.batch_gathers == planned.batch_gathers);
    check_receivers<R>(sent[rank], planned, rank, R::sharding::optimizer_shards(ranks));
  }
  return sent[0].traffic;
}

template <Recipe R> void check_strategies(Sum sum) {
  const auto replicate = check_traffic<Sharded<R, sharding::Replicate>>(2, sum);
  CHECK(replicate.gathers.collectives == 0);
  CHECK(replicate.reductions.collectives == 0);
  const auto zero1 = check_traffic<Sharded<R, sharding::ShardOptimizer>>(2, sum);
  const auto zero2 = check_traffic<Sharded<R, sharding::ShardGradOp>>(2, sum);
  const auto zero3 = check_traffic<Sharded<R, sharding::FullShard>>(2, sum);
  CHECK(zero1.gathers == zero2.gathers);
  CHECK(zero1.reductions.collectives * (sum.in_tree ? 1 : sum.micro_batches) == zero2.reductions.collectives);
  CHECK(zero2.gathers.collectives < zero3.gathers.collectives);
  CHECK(zero2.reductions == zero3.reductions);
  const auto hybrid = check_traffic<Sharded<R, sharding::HybridShard<2>>>(4, sum);
  const auto full = check_traffic<Sharded<R, sharding::FullShard>>(4, sum);
  CHECK(hybrid.gathers.collectives == full.gathers.collectives);
  CHECK(hybrid.gathers.bytes < full.gathers.bytes);
  CHECK(hybrid.replica_reductions.collectives > 0);
  CHECK(full.replica_reductions.collectives == 0);
  check_traffic<Sharded<R, sharding::HybridShardGradOp<2>>>(4, sum);
}

template <Recipe R> void check_sums() {
  using Once = sharding::ReduceOncePerStep<sharding::FullShard>;
  for (const std::int64_t micro_batches : {1, 3})
    for (const DType wire : {DType::fp32, DType::bf16}) {
      check_strategies<R>({micro_batches, wire});
      check_traffic<Sharded<R, Once>>(2, {micro_batches, wire});
    }
  check_strategies<R>({.micro_batches = 3, .in_tree = true});
}

}  // namespace

TEST_CASE("every rank sends what the plan says, to whom it says: tied head") { check_sums<gpt2_like>(); }
TEST_CASE("every rank sends what the plan says, to whom it says: head of its own") { check_sums<llama_like>(); }
TEST_CASE("every rank sends what the plan says, to whom it says: four replicas, bf16") {
  check_traffic<InBf16<Sharded<gpt2_like, sharding::HybridShard<2>>>>(8, {.micro_batches = 2, .wire = DType::bf16});
}

namespace {
template <class R, class Finetuning = finetuning::FreezeFirst<2>> struct Tuned : R { using finetuning = Finetuning; };
/// What is trained lies between what is not.
struct OddBlocks {
  static constexpr bool trains(UnitKind kind, int block) { return kind == UnitKind::block && block % 2 == 1; }
};
template <class R> void check_frozen() {
  const Sum sum{.micro_batches = 2};
  const auto full = check_traffic<Tuned<Sharded<R, sharding::FullShard>>>(2, sum),
             of_all = check_traffic<Sharded<R, sharding::FullShard>>(2, sum);
  CHECK(full.reductions.bytes < of_all.reductions.bytes);
  CHECK(full.gathers.bytes < of_all.gathers.bytes);
  check_traffic<Tuned<Sharded<R, sharding::ShardOptimizer>>>(2, sum);
  check_traffic<Tuned<Sharded<R, sharding::HybridShardGradOp<2>>>>(4, sum);
}
}  // namespace

TEST_CASE("every rank sends what the plan says, to whom it says: frozen units") {
  check_frozen<gpt2_like>();
  check_frozen<llama_like>();
  check_traffic<Tuned<Sharded<llama_like, sharding::FullShard>, finetuning::HeadOnly>>(2, {.micro_batches = 2});
  check_traffic<Tuned<Sharded<llama_like, sharding::ShardOptimizer>, finetuning::HeadOnly>>(2, {.micro_batches = 2});
  check_traffic<Tuned<Sharded<gpt2_like, sharding::FullShard>, OddBlocks>>(2, {.micro_batches = 2});
  using OverNf4 = finetuning::Nf4Base<finetuning::LowRank<LowRankSpec{.rank = 2, .alpha = 4}>>;
  check_traffic<Tuned<InBf16<Sharded<llama_like, sharding::FullShard>>, OverNf4>>(2, {.micro_batches = 2});
}

TEST_CASE(
    "every rank sends what the plan says, to whom it says: a teacher, whose units are gathered like the student's") {
  using Taught = TaughtBy<gpt2_like, Padded<llama_like>>;
  const Sum sum{.micro_batches = 2};
  const auto taught = check_traffic<Sharded<Taught, sharding::FullShard>>(2, sum),
             alone = check_traffic<Sharded<gpt2_like, sharding::FullShard>>(2, sum);
  CHECK(taught.gathers.collectives == alone.gathers.collectives + 2 * plan::n_teacher_units<Taught>);
  CHECK(taught.reductions == alone.reductions);
  check_traffic<Sharded<Taught, sharding::HybridShard<2>>>(4, sum);
  check_traffic<Sharded<Taught, sharding::ReduceOncePerStep<sharding::FullShard>>>(2, sum);
  check_traffic<Sharded<Taught, sharding::ShardGradOp>>(2, sum);  // its parameters are gathered once
  check_traffic<Sharded<Taught, sharding::Replicate>>(2, sum);
  using OfTied = TaughtBy<Padded<llama_like>, gpt2_like>;
  check_traffic<Sharded<OfTied, sharding::FullShard>>(2, sum);
}

namespace {
template <class R> struct WithMuon : R { using optimizer = optim::ByClass<optim::Muon, optim::AdamW>; };
template <class R> struct OnHost : R { using optimizer = optim::HostState<typename R::optimizer>; };
}  // namespace

TEST_CASE("every rank sends what the plan says, to whom it says: matrices that the optimizer sees whole") {
  using recipe = WithMuon<gpt2_like>;
  const auto sharded = check_traffic<Sharded<recipe, sharding::FullShard>>(2, {.micro_batches = 2});
  CHECK(sharded.gathers.bytes >
        check_traffic<Sharded<gpt2_like, sharding::FullShard>>(2, {.micro_batches = 2}).gathers.bytes);
  check_traffic<InBf16<Sharded<recipe, sharding::HybridShard<2>>>>(4, {.micro_batches = 2, .wire = DType::bf16});
  check_traffic<Sharded<recipe, sharding::ShardOptimizer>>(4, {.micro_batches = 2});
  check_traffic<Sharded<recipe, sharding::FullShard>>(3, {.micro_batches = 2});  // four blocks: two rounds
  // Ranks that share four blocks send each of them twice less what stays, where each gathered all of them.
  const auto bytes_of_matrices = [](const plan::Traffic& traffic, const plan::Traffic& by_adamw) {
    return traffic.gathers.bytes - by_adamw.gathers.bytes;
  };
  const auto by_adamw = check_traffic<Sharded<gpt2_like, sharding::FullShard>>(4, {.micro_batches = 2}),
             shared = check_traffic<Sharded<recipe, sharding::FullShard>>(4, {.micro_batches = 2}),
             gathered = check_traffic<Sharded<OnHost<recipe>, sharding::FullShard>>(4, {.micro_batches = 2});
  CHECK(2 * bytes_of_matrices(shared, by_adamw) == bytes_of_matrices(gathered, by_adamw));
  CHECK(shared.gathers.collectives == by_adamw.gathers.collectives + 2);
  CHECK(gathered.gathers.collectives == by_adamw.gathers.collectives + 4);
}

TEST_CASE("every rank sends what the plan says, to whom it says: the embeddings of an encoder, to all") {
  const Sum sum{.micro_batches = 3};
  CHECK(check_traffic<Sharded<encoder_like, sharding::Replicate>>(2, sum).batch_gathers.collectives == 3);
  check_traffic<Sharded<encoder_like, sharding::FullShard>>(2, sum);
  check_traffic<InBf16<Sharded<encoder_like, sharding::HybridShard<2>>>>(4, {.micro_batches = 2, .wire = DType::bf16});
}

}  // namespace monomorph::testing
