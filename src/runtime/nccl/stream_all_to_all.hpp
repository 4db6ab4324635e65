#pragma once
#include "runtime/distributed/all_to_all.hpp"
#include "runtime/nccl/nccl_group.hpp"

namespace monomorph::cuda {

/// Exchanges pieces between GPUs by NCCL, and adds them up by kernels of ours. All of it goes on one stream, in its
/// order, so that an exchange is over for what comes behind it.
class StreamAllToAll final : public distributed::AllToAll {
 public:
  /// @param nccl null for a group of one, which exchanges nothing
  StreamAllToAll(NcclGroup* nccl, RankGroup group, CUstream_st* stream)
      : AllToAll(std::move(group)), nccl_(nccl), stream_(stream) {}
  void begin(int slot, std::span<const View> sent, std::span<const View> received) override;
  void end(int) override {}
  void copy(View from, View to) override;
  void pairwise_sum(std::span<const View> parts, View sum, bool accumulate) override;

 private:
  NcclGroup* nccl_;
  CUstream_st* stream_;
};

}  // namespace monomorph::cuda
