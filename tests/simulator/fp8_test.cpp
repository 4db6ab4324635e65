// Products in fp8 on a simulated GPU: the same bits in every schedule of streams; and a GPU that has no such products.
#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace monomorph::testing {
namespace {

struct AdaptedLlama : InFp8<Recomputed<Small<llama_like>>> {
  using finetuning = finetuning::Nf4Base<finetuning::LowRank<
      LowRankSpec{.rank = 3, .alpha = 6, .dropout = 0.1, .targets = {.query = true, .gate = true, .down = true}}>>;
};

/// Trains in several schedules of streams.
template <class R> void check_schedules() {
  using Order = Schedule::Order;
  const auto trained = [](const Schedule& schedule) {
    Simulator::the().set_schedule(schedule);
    std::uint64_t state = 0;
    {
      Training<R> training;
      training.read(training.take_step());
      const std::int64_t before = Simulator::the().counts().allocations;
      training.read(training.take_step());
      CHECK(Simulator::the().counts().allocations == before);
      state = training.state_hash();
    }
    Simulator::the().set_schedule({});
    return state;
  };
  const std::uint64_t late = trained({Order::late});
  for (const Schedule& schedule :
       {Schedule{Order::early}, {Order::kernels_first}, {Order::random, 1}, {Order::random, 2}})
    CHECK(trained(schedule) == late);
}

}  // namespace

TEST_CASE("a step in fp8 leaves the same bits in every schedule of streams, and allocates nothing") {
  check_schedules<OnGpu<InFp8<Recomputed<Small<llama_like>>>>>();
  check_schedules<OnGpu<AdaptedLlama>>();
}

TEST_CASE("a GPU without products of fp8 is refused in one line before anything is allocated") {
  Simulator::the().set_compute_capability(8, 6);
  const std::int64_t before = Simulator::the().counts().allocations;
  CHECK(error_of([] { Training<OnGpu<InFp8<Small<gpt2_like>>>> training; }) ==
        "[GPU-09] precision Fp8Mixed must have a GPU of compute capability 8.9 or above, which has products of fp8 "
        "(simulated GPU: 8.6); change precision to Bf16Mixed, or give another GPU");
  CHECK(Simulator::the().counts().allocations == before);
  Simulator::the().set_compute_capability(8, 9);
  losses_of<OnGpu<InFp8<Small<gpt2_like>>>>(1);
  Simulator::the().set_compute_capability(9, 0);
}

}  // namespace monomorph::testing
