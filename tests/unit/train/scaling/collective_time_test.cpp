#include "train/scaling/collective_time.hpp"

#include "support/catch.hpp"

using namespace monomorph;
using namespace monomorph::train;

namespace {

/// No start, no hops: what is left is bandwidth. And the other way round.
constexpr double start = 15e-6, node_hop = 2e-6, giga = 1e9;
Calibration round_numbers() {
  Calibration calibration = train::calibration();
  calibration.network = 0.5;
  calibration.hop_seconds = 1e-3;
  calibration.shared_hop_seconds = 2e-3;
  return calibration;
}
CollectiveTime on(std::string_view gpu, std::string_view network, int gpus_per_node = 8) {
  return CollectiveTime({find_gpu(gpu), find_network(network), gpus_per_node}, round_numbers());
}
Cluster nodes_of(int gpus) { return {find_gpu("h100"), find_network("infiniband400"), gpus}; }

}  // namespace

TEST_CASE("a ring's all-gather within a node, by hand") {
  // Of 8 GB each of 8 GPUs receives 7, at half of NVLink's 450 GB/s, in 7 hops.
  CHECK(on("h100", "").gather({8, 8}, 8 * giga) == Approx(start + 7 * node_hop + 7 / 225.0));
  CHECK(on("a100", "").gather({4, 4}, 4 * giga) == Approx(start + 3 * node_hop + 3 / 150.0));
}

TEST_CASE("a ring's all-gather between nodes, by hand") {
  // Four nodes of eight: 4 hops between nodes and 28 within; eight adapters of 25 GB/s each, half of it.
  CHECK(on("h100", "infiniband200").gather({32, 8}, 32 * giga) ==
        Approx(start + 4 * 1e-3 + 28 * node_hop + 31 / (8 * 12.5)));
  // One GPU of each of four nodes, as the copies of a hybrid strategy.
  CHECK(on("h100", "infiniband200").gather({4, 1}, 4 * giga) == Approx(start + 4 * 1e-3 + 3 / 12.5));
  // NVLink is the narrower one.
  CHECK(on("a100", "infiniband800").gather({16, 8}, 16 * giga) ==
        Approx(start + 2 * 1e-3 + 14 * node_hop + 15 / 150.0));
  CHECK(on("a100-leonardo", "leonardo", 4).gather({8, 4}, 0) == Approx(start + 2 * 2e-3 + 6 * node_hop));
}

TEST_CASE("an all-reduce takes the faster one of a ring and a tree") {
  const CollectiveTime time = on("h100", "infiniband400");
  // Few bytes: up and down a tree over 64 nodes are 12 hops, and a ring's would be 128.
  CHECK(time.all_reduce({64, 1}, 8) == Approx(start + 12 * 1e-3).epsilon(1e-3));
  // Many bytes on two nodes: the ring sends half of them twice, the tree all of them twice.
  CHECK(time.all_reduce({2, 1}, 100 * giga) == Approx(start + 4 * 1e-3 + 100 / 25.0).epsilon(1e-3));
}

TEST_CASE("an exchange of parts among all ranks, by hand") {
  // Of 8 GB each of 8 GPUs receives 7, at half of NVLink's 450 GB/s.
  CHECK(on("h100", "").all_to_all({8, 8}, 8 * giga) == Approx(start + 7 * node_hop + 7 / 225.0));
  // Four nodes of eight: 24 of 32 parts come through the adapter of 25 GB/s that is the receiver's, half of it.
  CHECK(on("h100", "infiniband200").all_to_all({32, 8}, 32 * giga) == Approx(start + 31 * node_hop + 1e-3 + 24 / 12.5));
  // NVLink is the narrower one: 7 of 16 parts at half of 300 GB/s, and 8 at half of 100.
  CHECK(on("a100", "infiniband800").all_to_all({16, 8}, 16 * giga) == Approx(start + 15 * node_hop + 1e-3 + 8 / 50.0));
}

TEST_CASE("one rank communicates nothing") {
  const CollectiveTime time = on("h100", "");
  CHECK(time.gather({1, 1}, giga) == 0);
  CHECK(time.all_reduce({1, 1}, giga) == 0);
  CHECK(time.all_to_all({1, 1}, giga) == 0);
}

TEST_CASE("more bytes, more ranks and slower networks take longer") {
  const CollectiveTime fast = on("h100", "infiniband400"), slow = on("h100", "infiniband100");
  double before = 0;
  for (const double bytes : {1e3, 1e6, 1e9, 1e11}) {
    CHECK(fast.gather({64, 8}, bytes) > before);
    CHECK(slow.gather({64, 8}, bytes) > fast.gather({64, 8}, bytes));
    before = fast.gather({64, 8}, bytes);
  }
  before = 0;
  for (const int ranks : {1, 2, 8, 16, 128, 1024}) {
    CAPTURE(ranks);
    const double gather = fast.gather({ranks, std::min(ranks, 8)}, 1e8);
    CHECK(gather >= before);
    before = gather;
  }
}

TEST_CASE("which ranks hold a copy together, and which the same shard") {
  const auto check = [](PlacedRanks group, int ranks, int per_node) {
    CHECK(group.ranks == ranks);
    CHECK(group.ranks_per_node == per_node);
  };
  check(shard_group(nodes_of(8), 64, 64), 64, 8);
  check(replica_group(nodes_of(8), 64, 64), 1, 1);
  check(shard_group(nodes_of(8), 64, 8), 8, 8);
  check(replica_group(nodes_of(8), 64, 8), 8, 1);
  check(shard_group(nodes_of(8), 64, 1), 1, 1);
  check(replica_group(nodes_of(8), 64, 1), 64, 8);
  check(shard_group(nodes_of(8), 64, 2), 2, 2);
  check(replica_group(nodes_of(8), 64, 2), 32, 4);
  check(shard_group(nodes_of(8), 4, 4), 4, 4);
}

TEST_CASE("peaks are those of the data sheets") {
  CHECK(peak_flops(*find_gpu("h100"), DType::bf16) == Approx(989.4e12));
  CHECK(peak_flops(*find_gpu("a100"), DType::fp32) == Approx(19.5e12));
  CHECK(peak_flops(*find_gpu("a100-leonardo"), DType::bf16) == Approx(312e12 * 124 / 108));
  CHECK(peak_flops(*find_gpu("b200"), DType::fp16) == Approx(2250e12));
  CHECK(peak_flops(*find_gpu("h100"), DType::fp64) == 0);
  CHECK(find_gpu("h1000") == nullptr);
  CHECK(find_network("") == nullptr);
}
