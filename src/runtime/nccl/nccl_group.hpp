#pragma once
#include <monomorph/runtime/comm/rank_group.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/memory/view.hpp>

#include <nccl.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace monomorph::cuda {

/// The ranks of a group, connected by NCCL. What it is asked for goes on a stream and the host does not wait. One
/// thread asks; another one may look for failures, and abort.
class NcclGroup {
 public:
  /// Connects the ranks of the group, which all call it.   @param key in the world's store, of no other group
  /// @throws Error [RANK-05] a rank does not come, [RANK-18] the GPUs can't be connected
  NcclGroup(const World& world, const std::string& key, RankGroup ranks);
  NcclGroup(const NcclGroup&) = delete;
  /// Nothing that it was asked for is still to run, or it was aborted.
  ~NcclGroup();

  const RankGroup& ranks() const { return ranks_; }
  /// What was sent from this rank to others so far, if NCCL sends no more than it must.
  std::int64_t sent_bytes() const { return sent_bytes_; }

  void all_gather(View shard, View unsharded, cudaStream_t stream);
  /// `shard` = this rank's part of the sum of all ranks' `unsharded`, each of whose parts has the shard's length.
  void reduce_scatter(View unsharded, View shard, cudaStream_t stream);
  void all_reduce_sum(View x, cudaStream_t stream);
  /// Words of 64 bits, which views see as doubles.
  void all_reduce_words(View words, cudaStream_t stream);
  void all_reduce_words_max(View words, cudaStream_t stream);
  /// sent[r] goes to rank r of the group, received[r] comes from there, where present.
  void exchange(std::span<const View> sent, std::span<const View> received, cudaStream_t stream);

  /// What NCCL says that has failed, if anything has.
  std::optional<ncclResult_t> failure();
  /// Ends what is running, and takes no more: what is asked for from now on does nothing.
  void abort();

 private:
  void connect(const World& world, const std::string& key);
  template <class Ask> void ask(Ask what);
  /// What a call has come to: NCCL takes most on behind the host. In progress where the time limit is over.
  ncclResult_t settled(ncclResult_t result);
  ncclResult_t status();
  void all_reduce(View x, ncclDataType_t type, ncclRedOp_t operation, cudaStream_t stream);

  RankGroup ranks_;
  std::chrono::milliseconds time_limit_;
  std::mutex mutex_;
  ncclComm_t nccl_ = nullptr;  ///< null when it was aborted
  std::int64_t sent_bytes_ = 0;
};

}  // namespace monomorph::cuda
