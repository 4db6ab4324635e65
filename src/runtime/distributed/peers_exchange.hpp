#pragma once
#include "runtime/distributed/exchange.hpp"
#include "runtime/distributed/peers.hpp"

namespace monomorph::distributed {

/// Exchanges pieces by messages between processes, in the machine's memory. `end` waits for them.
class PeersExchange final : public Exchange {
 public:
  PeersExchange(Peers& peers, RankGroup group, Channel channel)
      : Exchange(std::move(group)), peers_(peers), channel_(channel) {}
  void begin(int slot, std::span<const View> sent, std::span<const View> received) override;
  void end(int slot) override;
  void copy(View from, View to) override;
  void pairwise_sum(std::span<const View> parts, View sum, bool accumulate) override;

 private:
  Peers& peers_;
  Channel channel_;
  std::vector<Peers::Message> messages_[2];
};

}  // namespace monomorph::distributed
