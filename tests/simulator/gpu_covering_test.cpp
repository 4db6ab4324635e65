// Recipes in which every two values of a sharding strategy, a precision, activation checkpointing, an optimiser, an
// objective and what layers are of meet, on 2, 4 and 8 simulated GPUs: the losses of a CPU, and in the fixed tree the
// bits of one GPU, or, where sums are rounded between ranks, those of as many in any other way.
#include "simulator/gpu_covering_set.hpp"
#include "simulator/rank_processes.hpp"
#include "support/covering_set.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace monomorph::testing {
namespace {

using std::string;

constexpr int n_rows = std::size(gpu_covering_set), n_steps = 3;

/// Of a training by row: the steps of rank 0.
using StepsByRow = std::map<int, std::vector<string>>;

StepsByRow steps_by_row(const string& out) {
  StepsByRow steps;
  std::istringstream stream(out);
  int row = -1;
  for (string line; std::getline(stream, line);) {
    if (line.starts_with("row ")) row = std::stoi(line.substr(4));
    if (line.starts_with("step ")) steps[row].push_back(line);
  }
  return steps;
}

/// All ranks have ended well, without races and with what is planned on the wire, and agree. In the step before the
/// last a GPU was asked for no memory, and the host waited once.
StepsByRow trained(int ranks, const string& device, const std::vector<int>& rows, const string& schedule = "late",
                   int seed = 0, const string& reduction = "fixed_tree") {
  std::vector<string> command{MONOMORPH_SIMULATED_COVERING_RANK, device, reduction, schedule, std::to_string(seed)};
  for (const int row : rows) command.push_back(std::to_string(row));
  const std::vector<ProcessResult> results = results_of(ranks, command);
  const StepsByRow steps = steps_by_row(results.front().out);
  for (const ProcessResult& result : results) {
    CAPTURE(ranks, device, reduction, schedule, seed, result.err, lines_of(result.out, "race: "));
    CHECK(result.exit_code == 0);
    CHECK(lines_of(result.out, "note: ").empty());
    CHECK(lines_of(result.out, "traffic: ") == std::vector<string>(rows.size(), "traffic: as planned"));
    if (device != "cpu")
      CHECK(lines_of(result.out, "a step: ") == std::vector<string>(rows.size(), "a step: 1 waits, 0 allocations"));
    CHECK(steps_by_row(result.out) == steps);
  }
  CHECK(steps.size() == rows.size());
  return steps;
}

std::vector<int> all_rows() {
  std::vector<int> rows(n_rows);
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}
std::vector<int> rows_where(auto holds) {
  std::vector<int> rows = all_rows();
  std::erase_if(rows, [&](int row) { return !holds(row); });
  return rows;
}
/// One of two halves, in each of which is every value of every axis: a test says so.
bool is_in_second_half(int row) { return row % 2 == 1; }
/// Of the rows that come on eight ranks, or of the others.
std::vector<int> half_of(bool on_eight, bool second) {
  return rows_where([=](int row) {
    return comes_on_eight_ranks(gpu_covering_set[row]) == on_eight && is_in_second_half(row) == second;
  });
}

/// What a GPU's losses may be from a CPU's: the rounding of what computes, of fp8 where products are of that, and of
/// Muon's iteration where that is in bf16.
double tolerance_of(const GpuRow& row) {
  constexpr double of_precision[] = {1e-6, 2e-4, 2e-4, 1e-4, 2e-4, 1e-12, 2e-4}, of_optimizer[] = {0, 0, 0, 0, 1e-3, 0};
  static_assert(std::size(of_precision) == gpu_levels[gpu_precision]);
  static_assert(std::size(of_optimizer) == gpu_levels[gpu_optimizer]);
  return std::max(of_precision[row[gpu_precision]], of_optimizer[row[gpu_optimizer]]);
}

void check_close(const StepsByRow& gpu, const StepsByRow& cpu) {
  for (const auto& [row, steps] : gpu) {
    const std::vector<double> losses = losses_of(steps), expected = losses_of(cpu.at(row));
    REQUIRE(losses.size() == n_steps);
    REQUIRE(expected.size() == n_steps);
    for (int i = 0; i < n_steps; ++i) {
      CAPTURE(row, i, losses[i], expected[i]);
      CHECK(std::abs(losses[i] / expected[i] - 1) < tolerance_of(gpu_covering_set[row]));
    }
  }
}

void check_same(const StepsByRow& actual, const StepsByRow& expected) {
  for (const auto& [row, steps] : actual) {
    CAPTURE(row);
    CHECK(steps == expected.at(row));
  }
}

const StepsByRow& on_one_gpu() {
  static const StepsByRow steps = trained(1, "gpu", all_rows());
  return steps;
}
const StepsByRow& on_cpu() {
  static const StepsByRow steps = trained(1, "cpu", all_rows());
  return steps;
}

/// What so many ranks train of some rows in the fixed tree, whatever the schedule, recorded or not: the steps of one
/// GPU, but where sums are rounded between ranks, those of as many ranks, which are near a CPU's.
StepsByRow in_any_way(int ranks, std::vector<int> rows) {
  StepsByRow steps = on_one_gpu();
  std::erase_if(rows, [&](int row) { return ranks == 1 || !rounds_between_ranks(gpu_covering_set[row]); });
  if (rows.empty()) return steps;
  const StepsByRow rounded = trained(ranks, "gpu", rows);
  check_close(rounded, on_cpu());
  for (const auto& [row, of_ranks] : rounded) {
    CAPTURE(row, ranks);
    CHECK(of_ranks != steps.at(row));
    steps[row] = of_ranks;
  }
  return steps;
}

}  // namespace

TEST_CASE("every pair of values of two axes of a training on GPUs meets in a row of the covering set") {
  string impossible;
  for (const auto& [axis, value, other_axis, other_value] : gpu_impossible)
    impossible += fmt::format("{}={} {}={}; ", axis, value, other_axis, other_value);
  CHECK(missing_pairs<GpuRow>(gpu_covering_set, gpu_levels) == impossible);  // run make_covering_set.py
  CHECK(within_levels<GpuRow>(gpu_covering_set, gpu_levels));
}
TEST_CASE("every value of every axis of a training on GPUs comes on ranks that are recorded, and on others") {
  for (std::size_t axis = 0; axis < n_gpu_axes; ++axis)
    for (int value = 0; value < gpu_levels[axis]; ++value)
      for (const bool second : {false, true}) {
        CAPTURE(axis, value, second);
        CHECK_FALSE(rows_where([=](int row) {
                      return gpu_covering_set[row][axis] == value && is_in_second_half(row) == second;
                    }).empty());
      }
}
TEST_CASE("recipes of the covering set train with the losses of a CPU, and in the fixed tree 2, 4 and 8 GPUs as one") {
  check_close(on_one_gpu(), on_cpu());
  const auto check = [](int ranks, const string& device, const std::vector<int>& rows, const string& schedule,
                        int seed) {
    check_same(trained(ranks, device, rows, schedule, seed), in_any_way(ranks, rows));
  };
  check(2, "recorded", half_of(false, false), "late", 0);
  check(4, "gpu", half_of(false, true), "random", 1);
  check(4, "gpu", half_of(true, false), "random", 2);
  check(8, "recorded", half_of(true, true), "late", 0);
}
TEST_CASE(
    "where gradients are added up in any order, ranks train recipes of the covering set with the losses of a CPU") {
  const auto check = [](int ranks, const string& device, bool on_eight, bool second, const string& schedule, int seed) {
    check_close(trained(ranks, device, half_of(on_eight, second), schedule, seed, "any_order"), on_cpu());
  };
  check(2, "recorded", false, true, "late", 0);
  check(4, "gpu", false, false, "random", 3);
  check(4, "recorded", true, true, "random", 4);
  check(8, "gpu", true, false, "late", 0);
}
TEST_CASE("recipes of the covering set train as on one GPU on 1, 2, 4 and 8, recorded or not, in every schedule",
          "[.][exhaustive]") {
  for (const int ranks : {1, 2, 4, 8}) {
    const std::vector<int> rows =
        ranks < 8 ? all_rows() : rows_where([](int row) { return comes_on_eight_ranks(gpu_covering_set[row]); });
    const StepsByRow expected = in_any_way(ranks, rows);
    for (const string device : {"gpu", "recorded"}) {
      for (const string schedule : {"late", "early", "kernels_first", "copies_first"})
        check_same(trained(ranks, device, rows, schedule), expected);
      for (const int seed : {1, 2, 3}) check_same(trained(ranks, device, rows, "random", seed), expected);
    }
  }
}

}  // namespace monomorph::testing
