#pragma once
#include <chrono>
#include <memory>
#include <monomorph/runtime/communicator.hpp>

namespace monomorph {

namespace distributed {
class Store;
}

/// The ranks of a run.
class World {
 public:
  /// One rank, which needs nobody.
  World();
  World(distributed::Store store, int rank, int size, std::chrono::milliseconds time_limit);
  ~World();
  World(World&&) noexcept;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// @param shards ranks that hold one copy of the parameters together: a divisor of size()
  /// @param wire dtype in which gradients travel
  std::unique_ptr<Communicator> communicator(int shards, DType wire) const;

 private:
  int rank_ = 0, size_ = 1;
  std::unique_ptr<distributed::Store> store_;
  std::chrono::milliseconds time_limit_{};
};

/// Joins the ranks that a launcher started, as its environment says.
/// @throws UsageError [RANK-01], Error [RANK-04] and following
World connect();

/// The communicator of a world of one.
std::unique_ptr<Communicator> one_rank();

}  // namespace monomorph
