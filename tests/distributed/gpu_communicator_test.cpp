// Collectives between GPUs. What needs a GPU, or several, says so and is skipped without.
#include "runtime/nccl/gpu_communicator.hpp"

#include "runtime/nccl/nccl_group.hpp"
#include "support/error_of.hpp"
#include "support/gpu_buffer.hpp"
#include "support/ranks.hpp"

#include <monomorph/runtime/machine/gpus.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <random>

#include "support/catch.hpp"  // last: LibTorch has a CHECK, too

namespace monomorph::testing {
namespace {

constexpr std::int64_t part = 64 * 37;  // of a unit: neither a power of two nor a multiple of several replicas' parts
constexpr std::chrono::minutes patience{2};

/// What collectives leave with a rank.
struct Outcome {
  Values gathered, reduced_once, reduced_twice;
  std::vector<std::int64_t> words;
  plan::Traffic traffic;
};

Values random_values(unsigned seed, std::int64_t n) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  Values values(n);
  for (double& value : values) value = static_cast<float>(normal(random));
  return values;
}

/// A step's collectives: a gather, a reduction of a step of its own, and one of a step of two micro-batches.
template <class Buffer> Outcome step(Communicator& communicator, DType gradients) {
  const int shards = communicator.shards(), rank = communicator.rank();
  const std::int64_t all = shards * part;
  Outcome outcome;
  Buffer shard(random_values(communicator.shard_index(), part), DType::bf16), unsharded(Values(all), DType::bf16);
  communicator.all_gather(0, shard.view(), unsharded.view());
  communicator.wait(0);
  outcome.gathered = unsharded.values();
  communicator.release(0);
  const auto reduce = [&](std::initializer_list<Reduction> reductions) {
    Buffer sum(Values(part), gradients);
    unsigned seed = 100;
    for (const Reduction reduction : reductions) {
      Buffer gradient(random_values(seed++ * 100 + rank, all), gradients);
      communicator.reduce_scatter(1, gradient.view(), shards > 1 ? sum.view() : gradient.view(), reduction);
      communicator.wait(1);
      if (shards == 1) sum = std::move(gradient);
    }
    return sum.values();
  };
  outcome.reduced_once = reduce({{}});
  outcome.reduced_twice = reduce({{.accumulate = false, .last = false}, {.accumulate = true, .last = true}});
  outcome.words = {rank, std::int64_t{1} << (40 + rank), -1};
  communicator.all_reduce_sum(outcome.words);
  outcome.traffic = communicator.traffic();
  return outcome;
}

template <class Buffer> std::vector<Outcome> on(Device device, int ranks, int shards, DType gradients, DType wire) {
  std::vector<Outcome> outcomes(ranks);
  with_ranks(ranks, [&](const World& world) {
    const auto communicator = world.communicator(shards, wire, device);
    outcomes[world.rank()] = step<Buffer>(*communicator, gradients);
  });
  return outcomes;
}

/// Bit for bit. In parentheses, as Catch2 can't print these.
void check_equal(const std::vector<Outcome>& some, const std::vector<Outcome>& others) {
  for (std::size_t rank = 0; rank < some.size(); ++rank) {
    CAPTURE(rank);
    CHECK((some[rank].gathered == others[rank].gathered));
    CHECK((some[rank].reduced_once == others[rank].reduced_once));
    CHECK((some[rank].reduced_twice == others[rank].reduced_twice));
    CHECK((some[rank].words == others[rank].words));
    CHECK((some[rank].traffic == others[rank].traffic));
  }
}

/// Terms of one dtype, and a last one in fp32 as a rank's own is, added to what the sum holds.
template <class Buffer> Values pairwise_sum_on(int n, DType dtype) {
  std::vector<Buffer> terms;
  terms.reserve(n);
  for (int i = 0; i < n; ++i) terms.emplace_back(random_values(i, part), i + 1 < n ? dtype : DType::fp32);
  std::vector<View> views(n);
  std::ranges::transform(terms, views.begin(), &Buffer::view);
  Buffer sum(random_values(1000, part), DType::fp32);
  Buffer::add_up(views, sum.view());
  return sum.values();
}

std::string no_gpus(std::size_t needed) {
  return fmt::format("this needs {} GPUs, and there are {}", needed, gpus().size());
}

}  // namespace

TEST_CASE("what c10d says of a missing GPU, stack and all, becomes one line") {
  if (!gpus().empty()) MONOMORPH_SKIP("there is a GPU here");
  const std::string error =
      error_of([] { cuda::NcclGroup(distributed::Store::in_process(), group_of(0, 1, 1, 0), 0, patience); });
  CAPTURE(error);
  CHECK(error.starts_with("[RANK-18] rank 0 can't connect GPU 0 with those of 0 other ranks ("));
  CHECK(contains(error, "no GPUs found"));
}

TEST_CASE("one rank on its GPU: NCCL starts, and sums are its own words") {
  if (gpus().empty()) MONOMORPH_SKIP(no_gpus(1));
  const auto communicator = cuda::gpu_communicator(distributed::Store::in_process(), {}, 1, DType::fp32, patience);
  const Outcome outcome = step<GpuBuffer>(*communicator, DType::fp32);
  CHECK((outcome.words == std::vector<std::int64_t>{0, std::int64_t{1} << 40, -1}));
  CHECK((outcome.traffic == plan::Traffic{}));
}

TEST_CASE("a GPU adds up terms with the bits of the CPU") {
  if (gpus().empty()) MONOMORPH_SKIP(no_gpus(1));
  for (const int n : {1, 2, 3, 8, 13})
    for (const DType dtype : {DType::fp32, DType::bf16, DType::fp16}) {
      CAPTURE(n, name_of(dtype));
      CHECK((pairwise_sum_on<GpuBuffer>(n, dtype) == pairwise_sum_on<HostBuffer>(n, dtype)));
    }
}

TEST_CASE("ranks on GPUs gather, reduce and add up with the bits and the traffic of ranks on CPUs") {
  const int ranks = static_cast<int>(std::min<std::size_t>(gpus().size(), 8));
  if (ranks < 2) MONOMORPH_SKIP(no_gpus(2));
  for (int shards = 1; shards <= ranks; ++shards)
    for (const DType wire : {DType::fp32, DType::bf16}) {
      if (ranks % shards != 0) continue;
      CAPTURE(ranks, shards, name_of(wire));
      check_equal(on<GpuBuffer>(Device::gpu, ranks, shards, DType::fp32, wire),
                  on<HostBuffer>(Device::cpu, ranks, shards, DType::fp32, wire));
    }
}

}  // namespace monomorph::testing
