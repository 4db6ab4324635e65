#pragma once
#include "runtime/distributed/all_to_all.hpp"
#include "runtime/distributed/point_to_point.hpp"

namespace monomorph::distributed {

/// Exchanges pieces by messages between processes, in the machine's memory. `end` waits for them.
class CpuAllToAll final : public AllToAll {
 public:
  CpuAllToAll(PointToPoint& point_to_point, RankGroup group, Channel channel)
      : AllToAll(std::move(group)), point_to_point_(point_to_point), channel_(channel) {}
  void begin(int slot, std::span<const View> sent, std::span<const View> received) override;
  void end(int slot) override;
  void copy(View from, View to) override;
  void pairwise_sum(std::span<const View> parts, View sum, bool accumulate) override;

 private:
  PointToPoint& point_to_point_;
  Channel channel_;
  std::vector<PointToPoint::Message> messages_[2];
};

}  // namespace monomorph::distributed
