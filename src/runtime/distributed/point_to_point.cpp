#include "runtime/distributed/point_to_point.hpp"

#include "runtime/distributed/failures.hpp"
#include "runtime/distributed/first_line.hpp"
#include "runtime/distributed/free_descriptors.hpp"
#include "runtime/distributed/local_address.hpp"
#include "runtime/distributed/with_timeout.hpp"

#include <fmt/format.h>
#include <cstdlib>
#include <string_view>

namespace monomorph::distributed {
namespace {

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

/// Users name the network as for PyTorch, by GLOO_SOCKET_IFNAME. Otherwise it is the one that leads to the rendezvous:
/// a machine's own name often stands for its loopback interface, which no other machine reaches.
libtorch::Network network_towards(const std::string& rendezvous_host) {
  using By = libtorch::Network::By;
  const char* const interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0') return {By::interface, interface};
  if (is_loopback(rendezvous_host)) return {By::address, rendezvous_host};
  constexpr const char* elsewhere = "192.0.2.1";  // an address for documentation (RFC 5737): by the default route
  for (const std::string& host : {rendezvous_host, std::string(elsewhere)})
    if (const auto address = address_towards(host); address && !is_loopback(*address)) return {By::address, *address};
  return {By::itself, ""};
}

/// Turns whatever Gloo throws into a failure of the other rank.
template <class Act> auto as_rank_failure(int other, bool sends, Act act) {
  try {
    return act();
  } catch (const std::exception& failure) {
    throw failure_of(other, sends, failure);
  }
}

std::span<std::byte> bytes_of(const View& view) { return {view.data, static_cast<std::size_t>(view.bytes())}; }

}  // namespace

struct PointToPoint::Message::Work {
  std::unique_ptr<libtorch::Message> message;
  int other;
  bool sends;
};

PointToPoint::PointToPoint(const Store& store, int rank, int size, const std::string& rendezvous_host,
                           std::chrono::milliseconds time_limit)
    : rank_(rank), size_(size), sent_bytes_(static_cast<std::size_t>(size) * n_channels) {
  check_free_descriptors(peer_descriptors(size));
  const libtorch::Library& library = libtorch::library();
  try {
    const auto connect = [=, &library, table = store.table(), network = network_towards(rendezvous_host)] {
      return library.connect(table, rank, size, network, time_limit);
    };
    connections_ = with_timeout(time_limit + grace, connect);
  } catch (const std::exception& failure) {
    throw Error("RANK-10",
                fmt::format("rank {} can't connect with the other {} within {} s ({}); see whether they run and can "
                            "reach this machine (GLOO_SOCKET_IFNAME names the network to use)",
                            rank, size == 2 ? "rank" : fmt::format("{} ranks", size - 1),
                            std::chrono::duration<double>(time_limit).count(), first_line(failure)));
  }
}

PointToPoint::~PointToPoint() = default;

PointToPoint::Message::Message(std::unique_ptr<Work> work) : work_(std::move(work)) {}
PointToPoint::Message::Message(Message&&) noexcept = default;
PointToPoint::Message& PointToPoint::Message::operator=(Message&&) noexcept = default;
PointToPoint::Message::~Message() = default;

void PointToPoint::Message::wait() {
  as_rank_failure(work_->other, work_->sends, [&] { work_->message->wait(); });
}

PointToPoint::Message PointToPoint::send(int to, Channel channel, View contiguous) {
  sent_bytes_[place(to, channel)] += contiguous.bytes();
  return Message(std::make_unique<Message::Work>(Message::Work{
      as_rank_failure(to, true,
                      [&] { return connections_->send(to, static_cast<int>(channel), bytes_of(contiguous)); }),
      to, true}));
}

PointToPoint::Message PointToPoint::receive(int from, Channel channel, View contiguous) {
  return Message(std::make_unique<Message::Work>(Message::Work{
      as_rank_failure(from, false,
                      [&] { return connections_->receive(from, static_cast<int>(channel), bytes_of(contiguous)); }),
      from, false}));
}

}  // namespace monomorph::distributed
