#include "network_namespaces.hpp"

#include "launched.hpp"

#include <unistd.h>

#include <atomic>
#include <stdexcept>

namespace monomorph::testing {
namespace {

constexpr const char* interface = "node0";

void ip(const Arguments& arguments) {
  Arguments command{"ip"};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ProcessResult result = run_process(command);
  if (result.exit_code != 0) throw std::runtime_error(result.err.substr(0, result.err.find('\n')));
}

}  // namespace

TwoNodes::TwoNodes() {
  static std::atomic<int> n_made = 0;
  prefix_ = "monomorph-test-" + std::to_string(::getpid()) + "-" + std::to_string(n_made++) + "-";
}

TwoNodes::~TwoNodes() {
  for (const int node : {0, 1}) run_process({"ip", "netns", "del", name(node)});
}

std::string TwoNodes::name(int node) const { return prefix_ + std::to_string(node); }

std::unique_ptr<TwoNodes> TwoNodes::make(std::string& why_not) {
  if (!find_program("ip")) return why_not = "there is no ip (iproute2)", nullptr;
  std::unique_ptr<TwoNodes> nodes(new TwoNodes);
  try {
    for (const int node : {0, 1}) ip({"netns", "add", nodes->name(node)});
    ip({"-n", nodes->name(0), "link", "add", interface, "type", "veth", "peer", "name", interface, "netns",
        nodes->name(1)});
    for (const int node : {0, 1}) {
      ip({"-n", nodes->name(node), "address", "add", address(node) + "/24", "dev", interface});
      for (const char* const device : {"lo", interface}) ip({"-n", nodes->name(node), "link", "set", device, "up"});
    }
    if (run_process(nodes->on(0, {"true"})).exit_code != 0) throw std::runtime_error("a command can't be run in them");
  } catch (const std::runtime_error& failure) {
    return why_not = std::string("network namespaces can't be made: ") + failure.what(), nullptr;
  }
  return nodes;
}

Arguments TwoNodes::on(int node, const Arguments& command) const {
  Arguments all{"ip", "netns", "exec", name(node)};
  all.insert(all.end(), command.begin(), command.end());
  return all;
}

void TwoNodes::set_link(int node, bool up) const {
  ip({"-n", name(node), "link", "set", interface, up ? "up" : "down"});
}

}  // namespace monomorph::testing
