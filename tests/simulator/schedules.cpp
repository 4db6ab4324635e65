// simulated_schedules <configuration> gpu|recorded <first seed> <schedules> [<place>]: steps of one recipe of the
// covering set in the schedule that is late, kernel by kernel, and then in random ones, from seed to seed, where the
// GPU may have recorded them; all of it, or without the waits of one place (delete_waits.py). Prints in how many of the
// schedules something raced, in how many other bits came out, and the places of all waits, and ends with 1 unless both
// are none. Without arguments it prints the configurations. raced_schedules is the same with kernels that report their
// accesses.
#include "simulator/covering_set.hpp"
#include "simulator/simulated_step.hpp"

#include <fmt/format.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace monomorph::testing {
namespace {

/// With rows of half the length of those that products in fp8 need, and so have: a schedule is quicker.
template <class R> struct Brief : R {
  static constexpr auto model = [] {
    constexpr int shortest_in_fp8 = OfShortRows<gpt2_like>::model.context_length;
    auto model = R::model;
    if (model.context_length > shortest_in_fp8) model.context_length = shortest_in_fp8 / 2;
    return model;
  }();
};

struct Task {
  bool records;
  std::uint64_t first_seed, n;
};

struct Left {
  std::vector<double> losses;
  std::uint64_t state = 0;
  friend bool operator==(const Left&, const Left&) = default;
};

/// Two steps, of which the second one is asked for before the host knows of the first, and is a recorded one, if any
/// is; and an evaluation.
template <Recipe R> Left left_by(const Schedule& schedule, bool records) {
  Simulator::the().set_schedule(schedule);
  const std::int64_t graphs = Simulator::the().counts().graphs;
  Left left;
  {
    Training<R> training;
    training.step().record_steps(records);
    const train::Ticket first = training.take_step(), second = training.take_step();
    for (const train::Ticket ticket : {first, second}) left.losses.push_back(training.read(ticket).loss);
    left.losses.push_back(training.step().evaluate(batch_from<R>(1)).loss);
    left.state = training.state_hash();
  }
  Simulator::the().set_schedule({});
  if (records == (Simulator::the().counts().graphs == graphs)) {
    fmt::print(stderr, "steps are {}recorded\n", records ? "not " : "");
    std::exit(2);
  }
  return left;
}

template <Recipe R> int run(const Task& task) {
  const Left expected = left_by<R>({Schedule::Order::late}, false);
  std::uint64_t n_raced = Simulator::the().take_races().empty() ? 0 : 1, n_other = 0;
  for (std::uint64_t i = 0; i < task.n; ++i) {
    const bool differs = left_by<R>({Schedule::Order::random, task.first_seed + i}, task.records) != expected;
    const std::vector<std::string> races = Simulator::the().take_races();
    n_other += differs ? 1 : 0;
    n_raced += races.empty() ? 0 : 1;
    if (!races.empty() && n_raced == 1) fmt::print("race: {}\n", races.front());
  }
  for (const std::string& place : Simulator::the().places_of_waits()) fmt::print("place: {}\n", place);
  fmt::print("schedules: {} raced: {} other bits: {}\n", task.n, n_raced, n_other);
  return n_raced == 0 && n_other == 0 ? 0 : 1;
}

struct Configuration {
  std::string_view name;
  int (*run)(const Task& task);
};
template <class... Of> std::vector<Configuration> configurations(const std::tuple<Of...>& set) {
  return std::apply(
      [](const auto&... of) {
        return std::vector<Configuration>{{of.name, run<OnGpu<Brief<typename Of::Recipe>>>}...};
      },
      set);
}

int main_of_schedules(std::span<char*> arguments) {
  const std::vector<Configuration> all = configurations(covering::set);
  if (arguments.size() == 1)
    for (const Configuration& each : all) fmt::print("{}\n", each.name);
  if (arguments.size() == 1) return 0;
  if (arguments.size() != 5 && arguments.size() != 6) return 2;
  if (arguments.size() == 6) Simulator::the().skip_wait(arguments[5]);
  const Task task{arguments[2] == std::string_view("recorded"), std::strtoull(arguments[3], nullptr, 10),
                  std::strtoull(arguments[4], nullptr, 10)};
  for (const Configuration& each : all)
    if (each.name == arguments[1]) return each.run(task);
  return 2;
}

}  // namespace
}  // namespace monomorph::testing

int main(int argc, char** argv) {
  return monomorph::testing::main_of_schedules({argv, static_cast<std::size_t>(argc)});
}
