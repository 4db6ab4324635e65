// Each recipe of the covering set on a simulated GPU: the losses of a CPU.
#include "simulator/covering_cases.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace monomorph::testing {
namespace {

template <std::size_t number> struct SameLosses {
  static void run() {
    constexpr int n_steps = 4;
    constexpr auto covered = std::get<number>(covering::set);
    using R = typename decltype(covered)::Recipe;
    const std::vector<double> cpu = losses_of<R>(n_steps), gpu = losses_of<OnGpu<R>>(n_steps);
    double greatest = 0;
    for (int i = 0; i < n_steps; ++i) greatest = std::max(greatest, std::abs(gpu[i] / cpu[i] - 1));
    CHECK(greatest < covered.tolerance);
  }
};
const bool tests_are_there = covering::add_cases<SameLosses>();

}  // namespace
}  // namespace monomorph::testing
