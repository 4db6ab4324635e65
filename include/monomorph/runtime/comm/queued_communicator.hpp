#pragma once
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/machine/queue.hpp>

#include <array>

namespace monomorph {

namespace detail {
/// @throws UsageError [RANK-25]
[[noreturn]] void refuse_several_ranks(int ranks);
}  // namespace detail

/// Units that are gathered with one call.
class UnitGathers {
 public:
  /// That of two layers, of each of which what is trained, what is frozen and what is packed are units of their own.
  static constexpr int most = 6;

  void add(const UnitGather& unit) { units_[n_++] = unit; }
  std::span<const UnitGather> units() const { return {units_.data(), static_cast<std::size_t>(n_)}; }
  std::span<UnitGather> units() { return {units_.data(), static_cast<std::size_t>(n_)}; }

 private:
  std::array<UnitGather, most> units_;
  int n_ = 0;
};

/// A communicator's collectives as a step calls them: each begins in its turn on the step's queue, when those kernels
/// have run that were called before it, and `wait` holds up those that are called after it. The host waits for nothing.
/// A communicator that takes its turns by itself is called at once, and any other one by a function of the host, for
/// which the queue's device must run such functions. A handle, cheap to copy.
template <class Queue> class QueuedCommunicator {
 public:
  /// @throws UsageError [RANK-25] there are several ranks, and neither takes the communicator turns by itself nor runs
  ///   the queue's device functions of the host
  QueuedCommunicator(Queue queue, Communicator& communicator) : queue_(queue), communicator_(&communicator) {
    if constexpr (!RunsHostFunctions<Queue>)
      if (size() > 1 && !communicator.takes_turns()) detail::refuse_several_ranks(size());
  }
  Queue queue() const { return queue_; }
  int rank() const { return communicator_->rank(); }
  int size() const { return communicator_->size(); }
  int shards() const { return communicator_->shards(); }
  int shard_index() const { return communicator_->shard_index(); }

  /// The same communicator for a second model of the step: its unit u is unit `units` + u here, so that the units of
  /// both models can be in flight at once.
  QueuedCommunicator behind(int units) const {
    QueuedCommunicator other = *this;
    other.first_unit_ += units;
    return other;
  }

  // The collectives of Communicator, each in its turn on the queue.
  void all_gather(UnitGathers gathers) const {
    if (gathers.units().empty()) return;
    for (UnitGather& gather : gathers.units()) gather.unit += first_unit_;
    in_turn([=, all = communicator_] { all->all_gather(gathers.units()); });
  }
  void all_gather(int unit, View shard, View unsharded) const {
    in_turn([=, unit = first_unit_ + unit, all = communicator_] { all->all_gather(unit, shard, unsharded); });
  }
  void reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) const {
    in_turn([=, unit = first_unit_ + unit, all = communicator_] {
      all->reduce_scatter(unit, unsharded, shard, reduction);
    });
  }
  void all_to_all(int unit, std::span<const View> sent, std::span<const View> received) const {
    in_turn([=, unit = first_unit_ + unit, all = communicator_] { all->all_to_all(unit, sent, received); });
  }
  void release(int unit) const {
    in_turn([=, unit = first_unit_ + unit, all = communicator_] { all->release(unit); });
  }
  void wait(int unit) const {
    in_turn([=, unit = first_unit_ + unit, all = communicator_] { all->wait(unit); });
  }
  void all_reduce_sum(View words) const {
    in_turn([=, all = communicator_] { all->all_reduce_sum(words); });
  }
  void all_reduce_max(View words) const {
    in_turn([=, all = communicator_] { all->all_reduce_max(words); });
  }
  void gather_batch(View of_all) const {
    in_turn([=, all = communicator_] { all->gather_batch(of_all); });
  }

 private:
  void in_turn(auto collective) const {
    if constexpr (RunsHostFunctions<Queue>)
      once(queue_, collective);
    else
      collective();
  }

  Queue queue_;
  Communicator* communicator_;
  int first_unit_ = 0;
};

}  // namespace monomorph
