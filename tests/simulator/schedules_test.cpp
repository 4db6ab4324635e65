// What a step leaves depends on no order in which streams run what they were given.
#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"

#include <vector>

namespace monomorph::testing {
namespace {

using Order = Schedule::Order;

struct Trained {
  std::vector<double> losses;
  std::uint64_t state = 0;
  friend bool operator==(const Trained&, const Trained&) = default;
};

/// Two steps, the second of which is asked for before the host knows of the first.
template <Recipe R> Trained trained(const Schedule& schedule) {
  Simulator::the().set_schedule(schedule);
  Trained result;
  {
    Training<R> training;
    const train::Ticket first = training.take_step(), second = training.take_step();
    for (const train::Ticket ticket : {first, second}) result.losses.push_back(training.read(ticket).loss);
    result.state = training.state_hash();
  }
  Simulator::the().set_schedule({});
  return result;
}

template <class R> void check_same_in(std::uint64_t n_random) {
  std::vector<Schedule> schedules{{Order::early}, {Order::kernels_first}, {Order::copies_first}};
  for (std::uint64_t seed = 0; seed < n_random; ++seed) schedules.push_back({Order::random, seed});
  const Trained expected = trained<R>({Order::late});
  for (const Schedule& schedule : schedules) {
    CAPTURE(static_cast<int>(schedule.order), schedule.seed);
    CHECK(trained<R>(schedule) == expected);
  }
}

using AllOnHost = OnGpu<KeptOnHost<InBf16<Small<llama_like, 4>>>>;

}  // namespace

TEST_CASE("a step that keeps all it can on the host leaves the same bits in every schedule of streams") {
  check_same_in<AllOnHost>(6);
}
TEST_CASE("a step that keeps all it can on the host leaves the same bits in 1,000 random schedules",
          "[.][exhaustive]") {
  check_same_in<AllOnHost>(1000);
}

}  // namespace monomorph::testing
