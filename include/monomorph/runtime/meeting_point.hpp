#pragma once
#include <memory>

namespace monomorph {

/// Where local ranks meet: serves c10d's store on this machine, at a port that was free, as long as it lives.
class MeetingPoint {
 public:
  /// @throws Error [RANK-03]
  MeetingPoint();
  ~MeetingPoint();
  int port() const;

 private:
  struct Server;
  std::unique_ptr<Server> server_;
};

}  // namespace monomorph
