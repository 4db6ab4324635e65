// Each recipe of the covering set on a GPU: a training repeats with the same bits, and has them where its steps are
// recorded (docs/why/recorded_steps.md), too.
#include "simulator/covering_set.hpp"
#include "support/catch.hpp"

#include <string>
#include <utility>

namespace monomorph::testing {
namespace {

struct Left {
  std::vector<double> losses;
  std::uint64_t state = 0;
  friend bool operator==(const Left&, const Left&) = default;
};

template <Recipe R> Left left_by(bool recorded) {
  Training<R> training;
  training.step().record_steps(recorded);
  Left left;
  for (int i = 0; i < 6; ++i) {
    const StepOutcome outcome = training.read(training.take_step());
    left.losses.insert(left.losses.end(), {outcome.loss, outcome.gradient_norm});
  }
  CHECK(training.step().take_recording_note() == "");
  left.state = training.state_hash();
  return left;
}

template <std::size_t number> void check_bits() {
  constexpr auto covered = std::get<number>(covering::set);
  using R = OnGpu<typename decltype(covered)::Recipe>;
  const Left expected = left_by<R>(false);
  CHECK(left_by<R>(false) == expected);
  CHECK(left_by<R>(true) == expected);
}

template <std::size_t number> void add_test() {
  const std::string name = "repeated and recorded: " + std::string(std::get<number>(covering::set).name);
  REGISTER_TEST_CASE(check_bits<number>, name);
}
template <std::size_t... numbers> bool add_tests(std::index_sequence<numbers...>) {
  (add_test<numbers>(), ...);
  return true;
}
const bool tests_are_there = add_tests(std::make_index_sequence<std::tuple_size_v<decltype(covering::set)>>());

}  // namespace
}  // namespace monomorph::testing
