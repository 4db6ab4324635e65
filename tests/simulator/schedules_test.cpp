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

constexpr int n_choices = static_cast<int>(all_choices) + 1;
/// One block for each choice of what is recomputed.
struct EveryChoice {
  static constexpr Recompute recompute(int block) { return recompute_of(static_cast<unsigned>(block % n_choices)); }
};
/// Short rows, as there are many blocks.
template <class R> struct Brief : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.context_length = 8;
    return model;
  }();
};
template <class R> struct WithEveryChoice : R { using checkpointing = EveryChoice; };
template <class R> struct OffloadingEveryChoice : R { using checkpointing = checkpointing::Offload<EveryChoice>; };

using AllOnHost = OnGpu<KeptOnHost<InBf16<Small<llama_like, 4>>>>;

}  // namespace

TEST_CASE("a step that keeps all it can on the host leaves the same bits in every schedule of streams") {
  check_same_in<AllOnHost>(6);
}
TEST_CASE("a step leaves the same bits with every choice of what is recomputed, and nothing races") {
  using Kept = OnGpu<InBf16<Brief<Small<llama_like, n_choices>>>>;
  const Trained expected = trained<Kept>({Order::late});
  CHECK(trained<WithEveryChoice<Kept>>({Order::random, 1}) == expected);
  CHECK(trained<OffloadingEveryChoice<Kept>>({Order::random, 2}) == expected);
}
TEST_CASE("a step that keeps all it can on the host leaves the same bits in 1,000 random schedules",
          "[.][exhaustive]") {
  check_same_in<AllOnHost>(1000);
}

}  // namespace monomorph::testing
