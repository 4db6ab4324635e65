// Products in fp8 on a GPU: the losses of a CPU, which are near those of bf16.
#include "support/catch.hpp"
#include "support/gpu_step.hpp"
#include "support/plain_rotary.hpp"

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

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
  CHECK(worst_difference(cpu, bf16) > worst_difference(gpu, cpu));  // it is not bf16 that is compared
}

}  // namespace

TEST_CASE("products in fp8 have the losses of a CPU, near those of bf16") {
  check_losses<Small<gpt2_like>>();
  check_losses<Recomputed<Small<llama_like>>>();
  check_losses<KeptOnHost<Small<gpt2_like, 4>>>();
  check_losses<InDocuments<PlainRotary<Small<llama_like>>>>();
}

}  // namespace monomorph::testing
