#include "runtime/distributed/cpu_all_to_all.hpp"

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>

namespace monomorph::distributed {

void CpuAllToAll::begin(int slot, std::span<const View> sent, std::span<const View> received) {
  const std::vector<int>& ranks = group().ranks;
  for (int r = 0; r < group().size(); ++r)
    if (received[r].present()) messages_[slot].push_back(point_to_point_.receive(ranks[r], channel_, received[r]));
  for (int r = 0; r < group().size(); ++r)
    if (sent[r].present()) messages_[slot].push_back(point_to_point_.send(ranks[r], channel_, sent[r]));
}

void CpuAllToAll::end(int slot) {
  for (PointToPoint::Message& message : messages_[slot]) message.wait();
  messages_[slot].clear();
}

void CpuAllToAll::copy(View from, View to) { cpu::copy(cpu::Queue{}, from, to); }

void CpuAllToAll::pairwise_sum(std::span<const View> parts, View sum, bool accumulate) {
  cpu::pairwise_sum(cpu::Queue{}, parts, sum, accumulate);
}

}  // namespace monomorph::distributed
