#pragma once
#include "runtime/nccl/nccl_group.hpp"
#include "runtime/distributed/all_to_all.hpp"

namespace monomorph::cuda {

/// Exchanges pieces between GPUs over NCCL. Everything, even waiting for the end of an exchange, is enqueued on the
/// thread's current stream; the host itself never waits.
class NcclAllToAll final : public distributed::AllToAll {
 public:
  NcclAllToAll(NcclGroup* nccl, distributed::RankGroup group, c10::DeviceIndex device)
      : AllToAll(std::move(group)), nccl_(nccl), device_(device) {}
  void begin(int slot, std::span<const View> sent, std::span<const View> received) override;
  void end(int slot) override;
  void copy(View from, View to) override;
  void pairwise_sum(std::span<const View> parts, View sum, bool accumulate) override;

 private:
  NcclGroup* nccl_;  ///< null for a group of one, which exchanges nothing
  c10::DeviceIndex device_;
  NcclGroup::Work works_[2];
};

}  // namespace monomorph::cuda
