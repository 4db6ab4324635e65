// simulated_covering_rank cpu|gpu|recorded fixed_tree|any_order <schedule> <seed> <row>…: one of the ranks that train
// the recipes of some rows of the covering set, one after the other, as simulated_rank does. Prints the row before what
// simulated_rank prints of a training, and ends as that does.
#include "simulator/covering_rank.hpp"
#include "simulator/gpu_covering_set.hpp"

#include <utility>

namespace monomorph::testing {
namespace {

std::vector<CoveredTraining> all_trainings() {
  std::vector<CoveredTraining> all;
  const auto add = [&all](const std::vector<CoveredTraining>& part) {
    all.insert(all.end(), part.begin(), part.end());
  };
  [&]<int... parts>(std::integer_sequence<int, parts...>) { (add(trainings_of_part<parts>()), ...); }
  (std::make_integer_sequence<int, n_covered_parts>());
  return all;
}

int main_of_rank(std::span<char*> arguments) {
  if (arguments.size() < 6) return 2;
  const std::string_view device = arguments[1], reduction = arguments[2];
  const auto order = schedule_order(arguments[3]);
  if (!order) return 2;
  const Schedule schedule{*order, std::strtoull(arguments[4], nullptr, 10)};
  const std::vector<CoveredTraining> all = all_trainings();
  const World world = connect(time_limit_of_ranks());
  Simulator::the().set_schedule(schedule);
  for (const char* const argument : arguments.subspan(5)) {
    const auto row = static_cast<std::size_t>(std::atoi(argument));
    if (row >= all.size()) return 2;
    fmt::print("row {}\n", row);
    all[row](device, world,
             {.in_tree = reduction == "fixed_tree",
              .schedule = schedule,
              .n_steps = 3,
              .micro_batches = n_micro_batches(gpu_covering_set[row]),
              .records = device == "recorded"});
    Simulator::the().finish();  // what comes next takes over its streams
  }
  return ended();
}

}  // namespace
}  // namespace monomorph::testing

int main(int argc, char** argv) {
  using namespace monomorph::testing;
  return run_rank([&] { return main_of_rank({argv, static_cast<std::size_t>(argc)}); });
}
