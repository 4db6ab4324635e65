// Which communicators a device takes whose queue runs no functions of the host.
#include <monomorph/runtime/comm/queued_communicator.hpp>

#include "support/catch.hpp"
#include "support/communicators.hpp"
#include "support/error_of.hpp"

#include <vector>

namespace monomorph::testing {
namespace {

struct QueueOfKernels {};
static_assert(!RunsHostFunctions<QueueOfKernels> && RunsHostFunctions<cpu::Queue>);

struct OnDevice : IdleCommunicator {
  bool takes_turns() const override { return true; }
};

/// The units of each gather that it is asked for.
struct NotingGathers : IdleCommunicator {
  std::vector<std::vector<int>> gathered;

 private:
  void start_all_gather(std::span<const UnitGather> units) override {
    for (gathered.emplace_back(); const UnitGather& each : units) gathered.back().push_back(each.unit);
  }
};

}  // namespace

TEST_CASE("several ranks need collectives that take their turn on the device's queue") {
  IdleCommunicator on_host;
  OnDevice on_device;
  CHECK(error_of([&] { QueuedCommunicator(QueueOfKernels{}, on_host); }).starts_with("[RANK-25] "));
  CHECK(error_of([&] { QueuedCommunicator(QueueOfKernels{}, on_device); }) == "(no error)");
  CHECK(error_of([&] { QueuedCommunicator(cpu::Queue{}, on_host); }) == "(no error)");
}

TEST_CASE("units are gathered with one call, by the numbers that those of a second model have, and none with no call") {
  NotingGathers noting;
  const QueuedCommunicator first(cpu::Queue{}, noting), second = first.behind(10);
  UnitGathers two;
  two.add({.unit = 3, .shard = {}, .unsharded = {}});
  two.add({.unit = 1, .shard = {}, .unsharded = {}});
  first.all_gather(two);
  second.all_gather(two);
  first.all_gather(UnitGathers{});
  second.all_gather(2, {}, {});
  CHECK(noting.gathered == std::vector<std::vector<int>>{{3, 1}, {13, 11}, {12}});
}

}  // namespace monomorph::testing
