// Products in fp8 on a simulated GPU: the losses of a CPU, which are near those of bf16, in every schedule of streams;
// and a GPU that has no such products.
#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

template <class R> struct Recomputed : R { using checkpointing = checkpointing::EveryBlock; };

double worst_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] / b[i] - 1));
  return worst;
}

template <class R> void check_losses() {
  constexpr int n_steps = 8;
  const std::vector<double> cpu = losses_of<InFp8<R>>(n_steps), gpu = losses_of<OnGpu<InFp8<R>>>(n_steps),
                            bf16 = losses_of<InBf16<OfShortRows<R>>>(n_steps);
  CHECK(worst_difference(gpu, cpu) < 1e-3);
  CHECK(worst_difference(cpu, bf16) < 5e-3);
  CHECK(worst_difference(cpu, bf16) > 2 * worst_difference(gpu, cpu));  // it is not bf16 that is compared
}

}  // namespace

TEST_CASE("products in fp8 have the losses of a CPU, near those of bf16") {
  check_losses<Small<gpt2_like>>();
  check_losses<Recomputed<Small<llama_like>>>();
  check_losses<KeptOnHost<Small<gpt2_like, 4>>>();
}

TEST_CASE("a step in fp8 leaves the same bits in every schedule of streams, and allocates nothing") {
  using R = OnGpu<InFp8<Recomputed<Small<llama_like>>>>;
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
