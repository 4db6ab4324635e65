#pragma once
#include "train/scaling/calibration.hpp"

/// Seconds of collectives between GPUs: latency and bandwidth of a ring, or of a tree where that is faster (Thakur,
/// Rabenseifner and Gropp 2005, "Optimization of collective communication operations in MPICH").
namespace monomorph::train {

/// The ranks of a collective where they lie: so many of them on each node, the last one perhaps fewer.
struct PlacedRanks {
  int ranks = 1;
  int ranks_per_node = 1;
  int nodes() const { return (ranks + ranks_per_node - 1) / ranks_per_node; }
};

/// Ranks that hold one copy of what is sharded: neighbours.
PlacedRanks shard_group(const Cluster& cluster, int ranks, int shards);
/// Ranks that hold the same shard of the copies.
PlacedRanks replica_group(const Cluster& cluster, int ranks, int shards);

class CollectiveTime {
 public:
  explicit CollectiveTime(const Cluster& cluster, const Calibration& calibration = train::calibration())
      : cluster_(cluster), calibration_(calibration) {}

  /// A ring's all-gather, or its reduce-scatter.   @param bytes of the whole, which the ranks have, or get, in parts
  double gather(const PlacedRanks& group, double bytes) const;
  /// A ring's reduce-scatter and all-gather, or up and down a tree.
  double all_reduce(const PlacedRanks& group, double bytes) const;
  /// Each rank sends parts to all others and gets one of each.   @param bytes that a rank gets, its own part among them
  double all_to_all(const PlacedRanks& group, double bytes) const;
  /// Of the memory's bandwidth that a collective of so many bytes takes from kernels.
  double copying(int ranks, double bytes) const;

 private:
  double bandwidth(const PlacedRanks& group) const;
  double hop() const;
  Cluster cluster_;
  Calibration calibration_;
};

}  // namespace monomorph::train
