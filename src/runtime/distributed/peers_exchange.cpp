#include "runtime/distributed/peers_exchange.hpp"

#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>

namespace monomorph::distributed {

void PeersExchange::begin(int slot, std::span<const View> sent, std::span<const View> received) {
  const std::vector<int>& ranks = group().ranks;
  for (int r = 0; r < group().size(); ++r)
    if (received[r].present()) messages_[slot].push_back(peers_.receive(ranks[r], channel_, received[r]));
  for (int r = 0; r < group().size(); ++r)
    if (sent[r].present()) messages_[slot].push_back(peers_.send(ranks[r], channel_, sent[r]));
}

void PeersExchange::end(int slot) {
  for (Peers::Message& message : messages_[slot]) message.wait();
  messages_[slot].clear();
}

void PeersExchange::copy(View from, View to) { kernels::copy(from, to); }

void PeersExchange::pairwise_sum(std::span<const View> parts, View sum, bool accumulate) {
  kernels::pairwise_sum(parts, sum, accumulate);
}

}  // namespace monomorph::distributed
