#pragma once
#include <memory>

namespace monomorph {

/// Serves c10d's store, where local ranks meet, on a free port of this machine, as long as it lives.
class RendezvousServer {
 public:
  /// @throws Error [RANK-03]; UsageError [RANK-23] the process can't have a connection to each of the ranks
  explicit RendezvousServer(int ranks);
  ~RendezvousServer();
  int port() const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace monomorph
