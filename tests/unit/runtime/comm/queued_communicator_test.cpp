// Which communicators a device takes whose queue runs no functions of the host.
#include <monomorph/runtime/comm/queued_communicator.hpp>

#include "support/catch.hpp"
#include "support/communicators.hpp"
#include "support/error_of.hpp"

namespace monomorph::testing {
namespace {

struct QueueOfKernels {};
static_assert(!RunsHostFunctions<QueueOfKernels> && RunsHostFunctions<cpu::Queue>);

struct OnDevice : IdleCommunicator {
  bool takes_turns() const override { return true; }
};

}  // namespace

TEST_CASE("several ranks need collectives that take their turn on the device's queue") {
  IdleCommunicator on_host;
  OnDevice on_device;
  CHECK(error_of([&] { QueuedCommunicator(QueueOfKernels{}, on_host); }).starts_with("[RANK-25] "));
  CHECK(error_of([&] { QueuedCommunicator(QueueOfKernels{}, on_device); }) == "(no error)");
  CHECK(error_of([&] { QueuedCommunicator(cpu::Queue{}, on_host); }) == "(no error)");
}

}  // namespace monomorph::testing
