#include "runtime/distributed/point_to_point.hpp"

#include "runtime/distributed/failures.hpp"
#include "runtime/distributed/first_line.hpp"
#include "runtime/distributed/free_descriptors.hpp"
#include "runtime/distributed/local_address.hpp"
#include "runtime/distributed/store_handle.hpp"
#include "runtime/distributed/with_timeout.hpp"

#include <ATen/ops/from_blob.h>
#include <fmt/format.h>
#include <cstdlib>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace monomorph::distributed {
namespace {

bool is_loopback(std::string_view address) { return address.starts_with("127.") || address == "::1"; }

/// Users name the network as for PyTorch, by GLOO_SOCKET_IFNAME. Otherwise it is the one that leads to the rendezvous:
/// a machine's own name often stands for its loopback interface, which no other machine reaches.
auto network_device(const std::string& rendezvous_host) {
  const char* const interface = std::getenv("GLOO_SOCKET_IFNAME");
  if (interface != nullptr && *interface != '\0') return c10d::ProcessGroupGloo::createDeviceForInterface(interface);
  if (is_loopback(rendezvous_host)) return c10d::ProcessGroupGloo::createDeviceForHostname(rendezvous_host);
  constexpr const char* elsewhere = "192.0.2.1";  // an address for documentation (RFC 5737): by the default route
  for (const std::string& host : {rendezvous_host, std::string(elsewhere)})
    if (const auto address = address_towards(host); address && !is_loopback(*address))
      return c10d::ProcessGroupGloo::createDeviceForHostname(*address);
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

/// Turns whatever Gloo throws into a failure of the other rank.
template <class Act> auto as_rank_failure(int other, bool sends, Act act) {
  try {
    return act();
  } catch (const std::exception& failure) {
    throw failure_of(other, sends, failure);
  }
}

std::vector<at::Tensor> bytes_of(const View& view) { return {at::from_blob(view.data, {view.bytes()}, at::kByte)}; }

}  // namespace

struct PointToPoint::Group {
  c10::intrusive_ptr<c10d::ProcessGroupGloo> gloo;
};

struct PointToPoint::Message::Work {
  c10::intrusive_ptr<c10d::Work> work;
  int other;
  bool sends;
};

PointToPoint::PointToPoint(const Store& store, int rank, int size, const std::string& rendezvous_host,
                           std::chrono::milliseconds time_limit)
    : rank_(rank), size_(size), sent_bytes_(static_cast<std::size_t>(size) * n_channels) {
  check_free_descriptors(peer_descriptors(size));
  constexpr int waits_to_connect = 5;  // Gloo's own: it waits for so many times the limit that it is given
  const auto options = c10d::ProcessGroupGloo::Options::create(time_limit / waits_to_connect);
  options->threads = 1;  // of Gloo's own collectives, which nobody calls
  try {
    options->devices.push_back(network_device(rendezvous_host));
    const auto connect = [table = store.handle().store, rank, size, options] {
      return c10::make_intrusive<c10d::ProcessGroupGloo>(table, rank, size, options);
    };
    group_ = std::make_unique<Group>(Group{with_timeout(time_limit + grace, connect)});
    group_->gloo->setTimeout(time_limit);
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
  as_rank_failure(work_->other, work_->sends, [&] { work_->work->wait(); });
}

PointToPoint::Message PointToPoint::send(int to, Channel channel, View contiguous) {
  sent_bytes_[place(to, channel)] += contiguous.bytes();
  std::vector<at::Tensor> bytes = bytes_of(contiguous);
  return Message(std::make_unique<Message::Work>(
      Message::Work{as_rank_failure(to, true, [&] { return group_->gloo->send(bytes, to, static_cast<int>(channel)); }),
                    to, true}));
}

PointToPoint::Message PointToPoint::receive(int from, Channel channel, View contiguous) {
  std::vector<at::Tensor> bytes = bytes_of(contiguous);
  return Message(std::make_unique<Message::Work>(Message::Work{
      as_rank_failure(from, false, [&] { return group_->gloo->recv(bytes, from, static_cast<int>(channel)); }), from,
      false}));
}

}  // namespace monomorph::distributed
