#pragma once
#include "programs.hpp"

#include <memory>

namespace monomorph::testing {

/// Two nodes on this machine: network namespaces, each with an interface of its own, joined by a cable. They disappear
/// with the object.
class TwoNodes {
 public:
  /// @param why_not set if this machine, or this user, can't make them   @return null then
  static std::unique_ptr<TwoNodes> make(std::string& why_not);
  TwoNodes(const TwoNodes&) = delete;
  ~TwoNodes();

  static std::string address(int node) { return "10.0.0." + std::to_string(node + 1); }
  /// The same command, on a node.
  Arguments on(int node, const Arguments& command) const;
  /// Takes the cable out of a node, or puts it in.
  void set_link(int node, bool up) const;

 private:
  TwoNodes();
  std::string name(int node) const;
  std::string prefix_;
};

}  // namespace monomorph::testing
