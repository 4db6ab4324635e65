// Each recipe of the covering set on a simulated GPU: the losses of a CPU.
#include "simulator/covering_set.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace monomorph::testing {
namespace {

template <std::size_t number> void check_losses() {
  constexpr int n_steps = 4;
  constexpr auto covered = std::get<number>(covering::set);
  using R = typename decltype(covered)::Recipe;
  const std::vector<double> cpu = losses_of<R>(n_steps), gpu = losses_of<OnGpu<R>>(n_steps);
  double greatest = 0;
  for (int i = 0; i < n_steps; ++i) greatest = std::max(greatest, std::abs(gpu[i] / cpu[i] - 1));
  CHECK(greatest < covered.tolerance);
}

template <std::size_t number> void add_test() {
  const std::string name(std::get<number>(covering::set).name);
  REGISTER_TEST_CASE(check_losses<number>, name);
}
template <std::size_t... numbers> bool add_tests(std::index_sequence<numbers...>) {
  (add_test<numbers>(), ...);
  return true;
}
const bool tests_are_there = add_tests(std::make_index_sequence<std::tuple_size_v<decltype(covering::set)>>());

}  // namespace
}  // namespace monomorph::testing
