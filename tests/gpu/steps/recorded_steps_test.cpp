// Each recipe of the covering set on a GPU: a training repeats with the same bits, and has them where its steps are
// recorded (docs/why/recorded_steps.md), too.
#include "simulator/covering_cases.hpp"

#include <vector>

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

template <std::size_t number> struct SameBits {
  static void run() {
    constexpr auto covered = std::get<number>(covering::set);
    using R = OnGpu<typename decltype(covered)::Recipe>;
    const Left expected = left_by<R>(false);
    CHECK(left_by<R>(false) == expected);
    CHECK(left_by<R>(true) == expected);
  }
};
const bool tests_are_there = covering::add_cases<SameBits>("repeated and recorded: ");

}  // namespace
}  // namespace monomorph::testing
