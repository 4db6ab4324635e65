#pragma once
#include <chrono>
#include <memory>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/comm/parallel_groups.hpp>
#include <optional>
#include <string>
#include <vector>

namespace monomorph {

namespace distributed {
class PointToPoint;
class Store;
}  // namespace distributed

/// A rank's number among all ranks and among those on its machine, as far as the launcher says.
struct RankPlace {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;
  bool rank_0_serves = false;  ///< what all ranks read and write lies in the process of rank 0, not in a launcher's
};

/// The ranks of a run.
class World {
 public:
  /// A world of one rank.
  World();
  /// @param host where the ranks meet
  World(distributed::Store store, RankPlace place, std::string host, std::chrono::milliseconds time_limit);
  ~World();
  World(World&&) noexcept;

  int rank() const { return place_.rank; }
  int size() const { return place_.size; }
  int local_size() const { return place_.local_size; }
  const RankPlace& place() const { return place_; }
  std::chrono::milliseconds time_limit() const { return time_limit_; }
  /// The groups of this rank.   @param mesh whose model_parallel() divides size()
  ParallelGroups groups(const MeshSpec& mesh) const { return parallel_groups(rank(), size(), mesh); }
  /// Between data-parallel ranks, one of the groups into which the world falls, of what lies in the machine's memory.
  /// All ranks call it, each for its own.
  /// @param shards ranks that hold one copy of the parameters together: a divisor of the group's size
  /// @param wire dtype in which gradients travel   @throws Error [RANK-10]
  std::unique_ptr<Communicator> communicator(const RankGroup& data, int shards, DType wire) const;
  /// The same between all ranks.
  std::unique_ptr<Communicator> communicator(int shards, DType wire) const;
  /// Point-to-point messages between the ranks, independent of any communicator's.   @param name a different one for
  /// each use
  std::unique_ptr<distributed::PointToPoint> point_to_point(const std::string& name) const;
  /// Sets a key that all ranks can read.
  void set(const std::string& key, const std::string& value) const;
  /// Waits until a rank has set a key, and returns its value. @throws Error [RANK-05] if it takes longer than the time
  /// limit
  std::string get(const std::string& key, int from) const;
  /// The same of a key that one rank alone reads, once: it is forgotten, and takes no memory any more.
  std::string take(const std::string& key, int from) const;
  /// Leaves a note of this rank under `word`, and waits for those of the other ranks, but not longer than `patience`.
  /// @param expected_silent is not waited for; nor, if it has left a note, whom it expected to be silent, and so on
  /// @return the ranks that have left none; rank 0 if it serves the store and that does not answer; absent if nothing
  /// of a launcher's that serves it answers
  std::optional<std::vector<int>> notify_and_wait(const std::string& word, std::optional<int> expected_silent,
                                                  std::chrono::milliseconds patience) const;

 private:
  RankPlace place_;
  std::string host_;
  std::unique_ptr<distributed::Store> store_;
  std::chrono::milliseconds time_limit_{};
};

/// Joins the ranks that a launcher started, as its environment says.
/// @param time_limit for the others to come, and for every message between ranks from then on
/// @throws UsageError [RANK-01], [RANK-02], [RANK-21] to [RANK-23]; Error [RANK-04], [RANK-05], [RANK-14]
World connect(std::chrono::milliseconds time_limit);

/// How many ranks a launcher has started, and how many of them on this machine.   @throws as connect
struct LaunchedRanks {
  int all = 1, local = 1;
};
LaunchedRanks launched_ranks();

/// The communicator of a world of one.
std::unique_ptr<Communicator> one_rank();

}  // namespace monomorph
