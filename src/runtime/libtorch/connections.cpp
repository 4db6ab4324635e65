#include "runtime/libtorch/connections.hpp"

#include "runtime/libtorch/c10d_store.hpp"

#include <ATen/ops/from_blob.h>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace monomorph::libtorch {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroupGloo>;

auto device_of(const Network& network) {
  switch (network.by) {
    case Network::By::interface:
      return c10d::ProcessGroupGloo::createDeviceForInterface(network.name);
    case Network::By::address:
      return c10d::ProcessGroupGloo::createDeviceForHostname(network.name);
    case Network::By::itself:
      break;
  }
  return c10d::ProcessGroupGloo::createDefaultDevice();
}

std::vector<at::Tensor> tensors_of(std::span<std::byte> bytes) {
  return {at::from_blob(bytes.data(), {static_cast<std::int64_t>(bytes.size())}, at::kByte)};
}

class GlooMessage final : public Message {
 public:
  GlooMessage(c10::intrusive_ptr<c10d::Work> work, std::chrono::milliseconds time_limit)
      : work_(std::move(work)), time_limit_(time_limit) {}
  void wait() override { work_->wait(time_limit_); }

 private:
  c10::intrusive_ptr<c10d::Work> work_;
  std::chrono::milliseconds time_limit_;  ///< given to each wait, as the group's own limit is a fifth of it
};

class GlooConnections final : public Connections {
 public:
  GlooConnections(Group group, std::chrono::milliseconds time_limit)
      : group_(std::move(group)), time_limit_(time_limit) {}
  std::unique_ptr<Message> send(int to, int channel, std::span<std::byte> bytes) override {
    std::vector<at::Tensor> tensors = tensors_of(bytes);
    return std::make_unique<GlooMessage>(group_->send(tensors, to, channel), time_limit_);
  }
  std::unique_ptr<Message> receive(int from, int channel, std::span<std::byte> bytes) override {
    std::vector<at::Tensor> tensors = tensors_of(bytes);
    return std::make_unique<GlooMessage>(group_->recv(tensors, from, channel), time_limit_);
  }

 private:
  Group group_;
  std::chrono::milliseconds time_limit_;  ///< of a message
};

}  // namespace

std::unique_ptr<Connections> connect_by_gloo(const Store& store, int rank, int size, const Network& network,
                                             std::chrono::milliseconds time_limit) {
  constexpr int waits_to_connect = 5;  // Gloo's own: it waits for so many times the limit that it is given
  const auto options = c10d::ProcessGroupGloo::Options::create(time_limit / waits_to_connect);
  options->threads = 1;  // of Gloo's own collectives, which nobody calls
  options->devices.push_back(device_of(network));
  auto group = c10::make_intrusive<c10d::ProcessGroupGloo>(C10dStore::of(store), rank, size, options);
  return std::make_unique<GlooConnections>(std::move(group), time_limit);
}

}  // namespace monomorph::libtorch
