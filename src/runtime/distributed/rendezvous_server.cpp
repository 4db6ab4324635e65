#include <monomorph/runtime/comm/rendezvous_server.hpp>

#include "runtime/distributed/first_line.hpp"
#include "runtime/distributed/free_descriptors.hpp"
#include "runtime/machine/libtorch.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

namespace monomorph {

struct RendezvousServer::Server {
  std::shared_ptr<libtorch::Store> store;
  int port = 0;
};

RendezvousServer::RendezvousServer(int ranks) : server_(std::make_unique<Server>()) {
  distributed::check_free_descriptors(distributed::server_descriptors(ranks));
  const libtorch::Library& library = libtorch::library();
  try {
    server_->store = library.served_store(server_->port);
  } catch (const std::exception& failure) {
    throw Error("RANK-03", fmt::format("no port can be opened on 127.0.0.1 for the ranks to meet ({})",
                                       distributed::first_line(failure)));
  }
}

RendezvousServer::~RendezvousServer() = default;
int RendezvousServer::port() const { return server_->port; }

}  // namespace monomorph
