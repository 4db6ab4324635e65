// simulated_check <shards> any_order|fixed_tree: one of the ranks of `check --collectives`, as the launcher's variables
// say, on a simulated GPU of its own. Prints which collectives were tried by which ranks. Ends with 1 and a line where
// a number is wrong, and with 2 for what it does not know.
#include "simulator/simulator.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/runtime/comm/collectives_check.hpp>
#include <monomorph/runtime/comm/connect_ranks.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/cuda/device.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace monomorph::testing {
namespace {

void check(int shards, bool in_tree) {
  const World world = connect(std::chrono::seconds(20));
  const Owned<Communicator> communicator =
      connect_ranks<cuda::Queue>(world, world.groups({}).data, {shards, DType::fp32, in_tree});
  const CollectivesCheck found =
      check_collectives(*communicator, dynamic_cast<CheckedCommunicator&>(*communicator), 1 << 10);
  for (const CollectiveMeasure& measure : found.collectives)
    fmt::print("{}, ranks {}{}\n", measure.what, fmt::join(measure.ranks, ", "),
               measure.bytes_per_second > 0 ? "" : ", at no speed");
  fmt::print("pairs: {}\n", found.slowest.bytes_per_second <= found.fastest.bytes_per_second);
}

}  // namespace
}  // namespace monomorph::testing

int main(int argc, char** argv) {
  if (argc != 3 || std::atoi(argv[1]) < 1) return 2;
  try {
    monomorph::testing::check(std::atoi(argv[1]), argv[2] == std::string_view("fixed_tree"));
    return 0;
  } catch (const monomorph::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::fflush(nullptr);
    std::_Exit(1);
  }
}
