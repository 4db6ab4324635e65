#include "train/scaling/collective_time.hpp"

#include <algorithm>
#include <bit>

namespace monomorph::train {
namespace {

/// To start a collective, and of a hop between GPUs of a node: a few kernels' worth, small beside hops between nodes.
constexpr double start_seconds = 15e-6, node_hop_seconds = 2e-6;

}  // namespace

PlacedRanks shard_group(const Cluster& cluster, int ranks, int shards) {
  return {shards, std::min({shards, ranks, cluster.gpus_per_node})};
}

PlacedRanks replica_group(const Cluster& cluster, int ranks, int shards) {
  const int replicas = ranks / shards;
  return {replicas, std::clamp(cluster.gpus_per_node / shards, 1, replicas)};
}

double CollectiveTime::hop() const {
  return cluster_.network->is_shared ? calibration_.shared_hop_seconds : calibration_.hop_seconds;
}

/// Rings between nodes use the adapters of all their ranks on a node, each ring another one.
double CollectiveTime::bandwidth(const PlacedRanks& group) const {
  const double in_node = cluster_.gpu->nvlink_bandwidth;
  if (group.nodes() == 1) return calibration_.network * in_node;
  return calibration_.network * std::min(in_node, group.ranks_per_node * cluster_.network->bandwidth);
}

double CollectiveTime::gather(const PlacedRanks& group, double bytes) const {
  if (group.ranks == 1) return 0;
  const int nodes = group.nodes(), between_nodes = nodes > 1 ? nodes : 0;
  const double hops =
      (between_nodes > 0 ? between_nodes * hop() : 0) + (group.ranks - std::max(between_nodes, 1)) * node_hop_seconds;
  const double sent = bytes * (group.ranks - 1) / group.ranks;
  return start_seconds + hops + sent / bandwidth(group);
}

/// Parts go straight from rank to rank: what comes from another node passes the adapter of its one receiver.
double CollectiveTime::all_to_all(const PlacedRanks& group, double bytes) const {
  if (group.ranks == 1) return 0;
  const double part = bytes / group.ranks, latency = start_seconds + (group.ranks - 1) * node_hop_seconds;
  const double in_node = part * (group.ranks_per_node - 1) / (calibration_.network * cluster_.gpu->nvlink_bandwidth);
  if (group.nodes() == 1) return latency + in_node;
  const double from_other_nodes =
      part * (group.ranks - group.ranks_per_node) / (calibration_.network * cluster_.network->bandwidth);
  return latency + hop() + std::max(in_node, from_other_nodes);
}

double CollectiveTime::copying(int ranks, double bytes) const {
  return ranks == 1 ? 0 : calibration_.copies * bytes / cluster_.gpu->memory_bandwidth;
}

double CollectiveTime::all_reduce(const PlacedRanks& group, double bytes) const {
  if (group.ranks == 1) return 0;
  const double ring = 2 * gather(group, bytes) - start_seconds;
  const int levels = std::bit_width(static_cast<unsigned>(group.nodes() - 1));
  const double up_and_down = 2 * (levels > 0 ? levels * hop() : 0) + 2 * (group.ranks_per_node - 1) * node_hop_seconds;
  const double tree = start_seconds + up_and_down + 2 * bytes / bandwidth(group);
  return std::min(ring, tree);
}

}  // namespace monomorph::train
