#pragma once
#include <memory>

namespace monomorph {

/// Where local ranks meet: serves c10d's store on this machine, at a port that was free, as long as it lives.
class MeetingPoint {
 public:
  /// @throws Error [RANK-03]; UsageError [RANK-23] the process can't have a connection to each of the ranks
  explicit MeetingPoint(int ranks);
  ~MeetingPoint();
  int port() const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace monomorph
