#include "emulator/emulator.hpp"
#include "support/catch.hpp"
#include "support/generic_arithmetic.hpp"
#include "unit/runtime/kernels/kernel_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <vector>

namespace monomorph::emulator {
namespace {

using namespace monomorph::testing;
using enum DType;

constexpr std::int64_t sizes[] = {0, 64, 64 * 71};

struct Dtypes {
  DType gradient, master, state;
  std::optional<DType> rounded = {};
};
constexpr Dtypes in_use[] = {{fp32, fp32, fp32, bf16}, {fp32, fp32, fp32, fp16}, {fp32, fp32, bf16, bf16},
                             {bf16, fp32, fp32, bf16}, {bf16, fp32, bf16},       {fp32, bf16, bf16},
                             {bf16, bf16, bf16},       {fp64, fp64, fp64},       {fp64, fp64, fp64, fp32}};

/// Gradient, master, two buffers of state and the rounded copy, one after the other.
struct Buffers {
  std::vector<Storage> buffers;
  std::vector<std::vector<std::byte>> bytes;
  std::int64_t n;
  bool has_copy;

  Buffers(const Dtypes& dtypes, std::int64_t elements, double special)
      : n(elements), has_copy(dtypes.rounded.has_value()) {
    unsigned seed = 0;
    for (const DType dtype :
         {dtypes.gradient, dtypes.master, dtypes.state, dtypes.state, dtypes.rounded.value_or(dtypes.master)}) {
      Matrix values = random_matrix(1, n, ++seed);
      if (seed == 4)  // the second moment
        for (double& value : values.values) value *= value;
      if (seed == 1 && n > 70) values.values[70] = special;
      buffers.emplace_back(values, dtype);
    }
    for (const Storage& buffer : buffers) bytes.push_back(buffer.bytes());
  }
  View view(std::size_t i) { return n == 0 ? View{} : View(bytes[i].data(), buffers[i].view().dtype, {1, n}); }
  ElementUpdate run(std::uint64_t first) {
    return {.gradient = view(0),
            .master = view(1),
            .state = {view(2), view(3)},
            .rounded = has_copy ? view(4) : View{},
            .noise_key = {7, 9},
            .first = first};
  }
};

/// Of the rule `update(device's queue, run, terms)`, which is called with queues of both devices.
template <class Update> void check_bits(const Update& update, int n_state = 2) {
  const GenericArithmetic arithmetic;
  for (const Dtypes& dtypes : in_use)
    for (const std::int64_t n : sizes)
      for (const double special : {0.5, std::numeric_limits<double>::infinity()}) {
        CAPTURE(name_of(dtypes.gradient), name_of(dtypes.master), name_of(dtypes.state), n, special);
        const UpdateDecision decision{.gradient_scale = 0.3, .update = 5 + (std::uint64_t{3} << 32)};
        const UpdateTerms terms{.decision = &decision, .clip_value = special};
        const auto run_of = [n_state](Buffers& buffers) {
          ElementUpdate run = buffers.run(64 * 1021);
          for (std::size_t k = static_cast<std::size_t>(n_state); k < run.state.size(); ++k) run.state[k] = View{};
          return run;
        };
        Buffers expected(dtypes, n, special);
        update(cpu::Queue{}, run_of(expected), terms);
        for_each_schedule([&] {
          Buffers actual(dtypes, n, special);
          update(cuda::Queue{}, run_of(actual), terms);
          for (std::size_t i = 0; i < actual.bytes.size(); ++i) {
            CAPTURE(i);
            CHECK((actual.bytes[i] == expected.bytes[i]));
          }
        });
      }
}

/// Runs of several lengths, dtypes and rates: more of one kind than a kernel has room for.
struct ManyRuns {
  std::vector<Buffers> buffers;
  const UpdateDecision decision{.gradient_scale = 0.3, .update = 5};
  ManyRuns() {
    for (int i = 0; i < 60; ++i) {
      const Dtypes& dtypes = i % 2 == 0 ? in_use[0] : in_use[i % 3 == 0 ? 2 : 6];
      buffers.emplace_back(dtypes, i % 7 == 0 ? 64 * 71 : 64 * (1 + i % 5), 0.5);
    }
  }
  /// @param f (run, weight decay, terms)
  template <class F> void for_each(const F& f) {
    for (int i = 0; i < std::ssize(buffers); ++i) {
      UpdateTerms terms{.decision = &decision, .rate_times = 1.0 + i % 3};
      f(buffers[i].run(static_cast<std::uint64_t>(64 * i)), 0.1 * (i % 4), terms);
    }
  }
  std::vector<std::vector<std::vector<std::byte>>> bytes() const {
    std::vector<std::vector<std::vector<std::byte>>> all;
    for (const Buffers& of : buffers) all.push_back(of.bytes);
    return all;
  }
};

/// `update(queue, run, weight decay, terms)` of each run, together and one behind the other.
template <class Update> void check_together(const Update& update) {
  ManyRuns expected;
  expected.for_each([&](const ElementUpdate& run, double decay, const UpdateTerms& terms) {
    update(cuda::Queue{}, run, decay, terms);
  });
  for_each_schedule([&] {
    ManyRuns actual;
    update_together(cuda::Queue{}, [&](auto queue) {
      actual.for_each(
          [&](const ElementUpdate& run, double decay, const UpdateTerms& terms) { update(queue, run, decay, terms); });
    });
    CHECK((actual.bytes() == expected.bytes()));
  });
}
struct QueueOfOnesOwn : cuda::Queue {};
static_assert(JoinsUpdates<cuda::Queue> && !JoinsUpdates<QueueOfOnesOwn> && !JoinsUpdates<cpu::Queue>);

ElementUpdate with_state(ElementUpdate run, std::size_t k) {
  run.state = {run.state[k]};
  return run;
}

}  // namespace

TEST_CASE("updates of many runs together have the bits of one behind the other", "[optimizer]") {
  check_together([](auto queue, const ElementUpdate& run, double decay, const UpdateTerms& terms) {
    adamw(queue, run, {1e-2, 0.9, 0.95, 1e-8, decay}, terms);
  });
}

TEST_CASE("updates of the same elements keep their order, whatever waits", "[optimizer]") {
  SECTION("one of each rule") {
    check_together([](auto queue, const ElementUpdate& run, double decay, const UpdateTerms& terms) {
      lion(queue, with_state(run, 0), {1e-3, 0.9, 0.99, decay}, terms);
      move_average(queue, with_state(run, 1), {0.75}, terms);
    });
  }
  SECTION("two of one rule") {
    check_together([](auto queue, const ElementUpdate& run, double decay, const UpdateTerms& terms) {
      for (const double rate : {1e-2, 3e-2}) adamw(queue, run, {rate, 0.9, 0.95, 1e-8, decay}, terms);
    });
  }
  SECTION("with another one between two of a rule") {
    check_together([](auto queue, const ElementUpdate& run, double decay, const UpdateTerms& terms) {
      for (const double rate : {1e-3, 3e-3}) {
        lion(queue, with_state(run, 0), {rate, 0.9, 0.99, decay}, terms);
        move_average(queue, with_state(run, 1), {0.75}, terms);
      }
    });
  }
  SECTION("of some runs in another order than of others") {
    check_together([](auto queue, const ElementUpdate& run, double decay, const UpdateTerms& terms) {
      const auto average = [&] { move_average(queue, with_state(run, 1), {0.75}, terms); };
      const bool is_averaged_first = run.first / 64 % 4 == 2;
      if (is_averaged_first) average();
      lion(queue, with_state(run, 0), {1e-3, 0.9, 0.99, decay}, terms);
      if (!is_averaged_first) average();
    });
  }
  SECTION("with a kernel that is no update between them") {
    check_together([](auto queue, const ElementUpdate& run, double decay, const UpdateTerms& terms) {
      sgd(queue, with_state(run, 0), {1e-2, 0.9, true, decay}, terms);
      scale(queue, run.master, 0.5, run.master);
      sgd(queue, with_state(run, 1), {1e-2, 0.9, false, decay}, terms);
    });
  }
}

TEST_CASE("updates that have not been started when f fails never are", "[optimizer]") {
  const UpdateDecision decision{.gradient_scale = 0.3, .update = 5};
  const Buffers before(in_use[0], 64, 1);
  Buffers after(in_use[0], 64, 1);
  const auto fail = [&](auto queue) {
    adamw(queue, after.run(0), {1e-2, 0.9, 0.95, 1e-8, 0.1}, {.decision = &decision});
    throw std::runtime_error("as an update of one's own may");
  };
  CHECK_THROWS_AS(update_together(cuda::Queue{}, fail), std::runtime_error);
  CHECK((after.bytes == before.bytes));
}

TEST_CASE("AdamW on a GPU has the bits of the CPU", "[optimizer]") {
  check_bits([](auto queue, const ElementUpdate& run, const UpdateTerms& terms) {
    adamw(queue, run, {1e-2, 0.9, 0.95, 1e-8, 0.1}, terms);
  });
}

TEST_CASE("AdamW without a first moment's memory has the bits of the CPU", "[optimizer]") {
  check_bits([](auto queue, const ElementUpdate& run, const UpdateTerms& terms) {
    adamw(queue, run, {3e-2, 0, 0.999, 1e-5, 0}, terms);
  });
}

TEST_CASE("momentum and signs on a GPU have the bits of the CPU", "[optimizer]") {
  for (const bool nesterov : {false, true}) {
    check_bits(
        [&](auto queue, const ElementUpdate& run, const UpdateTerms& terms) {
          sgd(queue, run, {1e-2, 0.9, nesterov, 0.1}, terms);
        },
        1);
    check_bits(
        [&](auto queue, const ElementUpdate& run, const UpdateTerms& terms) {
          momentum_mean(queue, run, {0.95, nesterov}, terms);
        },
        1);
  }
  check_bits(
      [](auto queue, const ElementUpdate& run, const UpdateTerms& terms) {
        lion(queue, run, {1e-3, 0.9, 0.99, 0.1}, terms);
      },
      1);
}

TEST_CASE("a moving average on a GPU has the bits of the CPU", "[optimizer]") {
  for (const double decay : {0.75, 1.0})
    check_bits([decay](auto queue, const ElementUpdate& run,
                       const UpdateTerms& terms) { move_average(queue, run, {decay}, terms); },
               1);
}

TEST_CASE("a step along a direction on a GPU has the bits of the CPU", "[optimizer]") {
  check_bits(
      [](auto queue, const ElementUpdate& run, const UpdateTerms& terms) {
        step_along(queue, run, {1e-2, 0.1}, terms);
      },
      0);
}

TEST_CASE("a run that takes blocks several turns has the bits of the CPU, between others, too", "[optimizer]") {
  const GenericArithmetic arithmetic;
  const Dtypes dtypes{fp32, fp32, fp32, bf16};
  std::vector<Buffers> expected;
  for (const std::int64_t groups : {3, 16 * 2100, 5}) expected.emplace_back(dtypes, 64 * groups, 1);
  std::vector<Buffers> actual(expected);
  const UpdateDecision decision{.gradient_scale = 0.3, .update = 5};
  const auto update = [&](auto queue, Buffers& of) {
    adamw(queue, of.run(0), {1e-2, 0.9, 0.95, 1e-8, 0.1}, {.decision = &decision});
  };
  for (Buffers& of : expected) update(cpu::Queue{}, of);
  update_together(cuda::Queue{}, [&](auto queue) {
    for (Buffers& of : actual) update(queue, of);
  });
  for (std::size_t i = 0; i < actual.size(); ++i) CHECK((actual[i].bytes == expected[i].bytes));
}

TEST_CASE("an update that does not apply changes nothing", "[optimizer]") {
  const UpdateDecision decision{.applies = false};
  const UpdateTerms terms{.decision = &decision};
  const Buffers before({fp32, fp32, fp32}, 64, 1);
  Buffers after({fp32, fp32, fp32}, 64, 1);
  const ElementUpdate run = after.run(0);
  cuda::adamw({}, run, {1e-2, 0.9, 0.95, 1e-8, 0.1}, terms);
  cuda::sgd({}, run, {1e-2, 0.9, true, 0.1}, terms);
  cuda::lion({}, run, {1e-3, 0.9, 0.99, 0.1}, terms);
  cuda::momentum_mean({}, run, {0.95, true}, terms);
  cuda::step_along({}, run, {1e-2, 0.1}, terms);
  cuda::move_average({}, run, {0.99}, terms);
  CHECK((after.bytes == before.bytes));
}

TEST_CASE("a run that is not made of whole groups is refused", "[optimizer]") {
  const UpdateDecision decision{};
  Buffers buffers({fp32, fp32, fp32}, 128, 1);
  ElementUpdate run = buffers.run(0);
  run.master = run.master.columns(0, 65);
  CHECK_THROWS_AS(cuda::adamw({}, run, {}, {.decision = &decision}), std::logic_error);
  run = buffers.run(1);
  CHECK_THROWS_AS(cuda::adamw({}, run, {}, {.decision = &decision}), std::logic_error);
}

}  // namespace monomorph::emulator
