#pragma once
#include <monomorph/runtime/cuda/queue.hpp>
#include <utility>

namespace monomorph::cuda {

struct WaitingUpdates;

/// Where updates of runs of elements, and of whole matrices, are put: on a queue, or into a list that is started later.
/// A kernel that is no such update takes a plain queue, which this becomes; what waits is started before, so that
/// kernels keep the order of their calls.
class UpdateQueue {
 public:
  UpdateQueue(Queue queue = {}) : queue_(queue) {}
  UpdateQueue(Queue queue, WaitingUpdates* waiting) : queue_(queue), waiting_(waiting) {}
  /// Starts what waits.   @throws Error [KERNEL-05] CUDA does not start it
  operator Queue() const;
  WaitingUpdates* waiting() const { return waiting_; }  ///< null: an update is started when it is called

 private:
  Queue queue_;
  WaitingUpdates* waiting_ = nullptr;
};

/// Updates that wait, until start(): those of one rule and dtypes become one kernel, however many runs there are, and
/// matrices of one shape products of one batch, if their scratch memories lie equally far apart. Of two that use the
/// same elements the second one runs behind the first. What has not been started when this ends never is.
class JoinedUpdates {
 public:
  explicit JoinedUpdates(Queue queue);
  JoinedUpdates(const JoinedUpdates&) = delete;
  ~JoinedUpdates();
  UpdateQueue queue() const { return {queue_, waiting_}; }
  /// @throws Error [KERNEL-05] CUDA does not start one
  void start();

 private:
  Queue queue_;
  WaitingUpdates* waiting_;
};

/// Calls f with a queue whose updates are started together when f returns.
template <class F> void join_updates(Queue queue, F&& f) {
  JoinedUpdates updates(queue);
  std::forward<F>(f)(updates.queue());
  updates.start();
}

}  // namespace monomorph::cuda
