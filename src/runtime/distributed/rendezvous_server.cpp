#include <monomorph/runtime/comm/rendezvous_server.hpp>

#include "runtime/distributed/first_line.hpp"
#include "runtime/distributed/free_descriptors.hpp"
#include "runtime/distributed/quiet_c10d.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

namespace monomorph {

struct RendezvousServer::Server {
  c10::intrusive_ptr<c10d::TCPStore> store;
};

RendezvousServer::RendezvousServer(int ranks) {
  distributed::check_free_descriptors(distributed::server_descriptors(ranks));
  distributed::quiet_c10d();
  c10d::TCPStoreOptions options;
  options.port = 0;  // any that is free
  options.isServer = true;
  options.waitWorkers = false;
  try {
    server_ = std::make_unique<Server>(Server{c10::make_intrusive<c10d::TCPStore>("127.0.0.1", options)});
  } catch (const std::exception& failure) {
    throw Error("RANK-03", fmt::format("no port can be opened on 127.0.0.1 for the ranks to meet ({})",
                                       distributed::first_line(failure)));
  }
}

RendezvousServer::~RendezvousServer() = default;
int RendezvousServer::port() const { return server_->store->getPort(); }

}  // namespace monomorph
