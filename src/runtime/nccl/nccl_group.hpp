#pragma once
#include <monomorph/runtime/comm/rank_group.hpp>
#include "runtime/distributed/store.hpp"

#include <monomorph/runtime/memory/view.hpp>

#include <ATen/core/Tensor.h>
#include <chrono>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <torch/csrc/distributed/c10d/Work.hpp>

namespace monomorph::cuda {

/// The ranks of a group, connected by c10d's NCCL. Work begins after what is enqueued on the thread's current stream;
/// `join` makes that stream wait for the work. Only one thread may call.
class NcclGroup {
 public:
  using Work = c10::intrusive_ptr<c10d::Work>;
  /// What work is for, to be said in the message if a rank fails.
  struct Purpose {
    std::string (*text)(int unit);
    int unit;
  };

  /// Connects the ranks of the group, which all call it.   @param store used by no other group
  /// @throws Error [RANK-18]
  NcclGroup(const distributed::Store& store, const distributed::RankGroup& group, c10::DeviceIndex device,
            std::chrono::milliseconds time_limit);
  ~NcclGroup();

  /// Sets what the work that is begun from now on is for.
  void work_for(Purpose purpose) { purpose_ = purpose; }
  Work all_gather(View shard, View unsharded);
  /// sent[r] goes to rank r of the group, received[r] comes from there, where present.
  Work all_to_all(std::span<const View> sent, std::span<const View> received);
  Work all_reduce_sum(at::Tensor words);
  void join(Work& work);
  /// What gathers and exchanges have sent from this rank to others so far, whichever way NCCL chose.
  std::int64_t sent_bytes() const { return sent_bytes_; }
  /// @throws RankFailure [RANK-11], [RANK-12] if NCCL has given up something that was begun
  void check();

 private:
  struct Begun {
    Work work;
    Purpose purpose;
  };
  template <class Start> Work begin(Start start);
  template <class Act> auto as_rank_failure(Purpose purpose, Act act);

  struct Group;
  std::unique_ptr<Group> group_;
  c10::DeviceIndex device_;
  int n_others_;
  std::int64_t sent_bytes_ = 0;
  Purpose purpose_{};
  std::deque<Begun> begun_;  ///< begun, and not yet known to be completed
};

}  // namespace monomorph::cuda
