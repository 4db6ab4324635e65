// Several ranks on simulated GPUs: processes that exchange by NCCL. They train as a CPU does, with the bits of any
// number of ranks where sums have a fixed order, and whatever order streams run in.
#include "simulator/rank_processes.hpp"
#include "support/error_of.hpp"

#include <fmt/format.h>
#include <cmath>
#include <csignal>
#include <numeric>

namespace monomorph::testing {
namespace {

using std::string;

constexpr int n_steps = 20, n_compared_steps = 8;

/// The program of a rank, and where it meets the others.
std::vector<string> command(const string& device, const string& strategy, const string& order,
                            const string& schedule = "late", int seed = 0, int steps = n_steps, int micro_batches = 4) {
  return {MONOMORPH_SIMULATED_RANK,     device, strategy, order, schedule, std::to_string(seed), std::to_string(steps),
          std::to_string(micro_batches)};
}
constexpr int short_timeout = 10;  ///< of ranks of which one is silent

double worst_difference(const std::vector<string>& some, const std::vector<string>& others) {
  const std::vector<double> a = losses_of(some), b = losses_of(others);
  REQUIRE(!a.empty());
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] / b[i] - 1));
  return worst;
}

const std::vector<string>& steps_on_cpu() {
  static const std::vector<string> steps = steps_of(1, command("cpu", "Replicate", "fixed_tree"));
  return steps;
}
const std::vector<string>& steps_on_one_gpu() {
  static const std::vector<string> steps = steps_of(1, command("gpu", "Replicate", "fixed_tree"));
  return steps;
}

/// In 20 steps; gpu_covering_test.cpp shows a few on each of these numbers of ranks, with much else.
void check_strategy(const string& strategy, std::initializer_list<int> numbers) {
  for (const int ranks : numbers) {
    CAPTURE(strategy, ranks);
    CHECK(worst_difference(steps_of(ranks, command("gpu", strategy, "any_order")), steps_on_cpu()) < 1e-6);
    const std::vector<string>& one = steps_on_one_gpu();
    CHECK(steps_of(ranks, command("gpu", strategy, "fixed_tree", "late", 0, n_compared_steps)) ==
          std::vector<string>(one.begin(), one.begin() + n_compared_steps));
  }
}

/// Some steps on two ranks, whose schedules differ in no bit, whether they are recorded or not.
void check_schedules(const string& strategy, const string& order, const std::vector<int>& seeds,
                     const string& device = "gpu") {
  constexpr int n = 3;
  CAPTURE(strategy, order, device);
  const auto steps = [&](const string& schedule, int seed) {
    return steps_of(2, command(device, strategy, order, schedule, seed, n));
  };
  const std::vector<string> late = steps_of(2, command("gpu", strategy, order, "late", 0, n));
  CHECK(late.size() == n);
  for (const string schedule : {"early", "kernels_first", "copies_first"}) CHECK(steps(schedule, 0) == late);
  for (const int seed : seeds) CHECK(steps("random", seed) == late);
}

}  // namespace

TEST_CASE("one simulated GPU has the losses of a CPU, in the fixed tree") {
  CHECK(steps_on_cpu().size() == n_steps);
  CHECK(losses_of(steps_on_cpu()).back() < losses_of(steps_on_cpu()).front());
  CHECK(worst_difference(steps_on_one_gpu(), steps_on_cpu()) < 1e-6);
}
TEST_CASE("GPUs that hold everything have the losses of a CPU, and the bits of one GPU in the fixed tree") {
  check_strategy("Replicate", {4});
}
TEST_CASE("GPUs that share the optimiser have the losses of a CPU, and the bits of one GPU in the fixed tree") {
  check_strategy("ShardOptimizer", {2});
}
TEST_CASE("GPUs that share gradients have the losses of a CPU, and the bits of one GPU in the fixed tree") {
  check_strategy("ShardGradOp", {2});
}
TEST_CASE("GPUs that share all have the losses of a CPU, and the bits of one GPU in the fixed tree") {
  check_strategy("FullShard", {4});
}
TEST_CASE(
    "GPUs that share all and reduce once a step have the losses of a CPU, and the bits of one GPU in the fixed tree") {
  check_strategy("ReduceOncePerStep", {2});
}
TEST_CASE(
    "GPUs that share all and keep it on the host have the losses of a CPU, and in the fixed tree the bits of one") {
  const auto steps_on = [](const string& device, const string& strategy, int ranks, const string& order) {
    return steps_of(ranks, command(device, strategy, order, "late", 0, n_compared_steps));
  };
  const std::vector<string> cpu = steps_on("cpu", "DeepReplicate", 1, "fixed_tree"),
                            one = steps_on("gpu", "DeepReplicate", 1, "fixed_tree");
  CHECK(losses_of(cpu).back() < losses_of(cpu).front());
  CHECK(worst_difference(one, cpu) < 1e-6);
  CHECK(steps_on("recorded", "DeepOnHost", 2, "fixed_tree") == one);
  CHECK(steps_on("gpu", "DeepOnHost", 4, "fixed_tree") == one);
  CHECK(worst_difference(steps_on("recorded", "DeepOnHost", 2, "any_order"), cpu) < 1e-6);
  check_schedules("DeepOnHost", "any_order", {20, 21}, "recorded");
}
namespace {

struct Way {
  string device, strategy;
  int ranks;
};
/// Of some steps in the fixed tree: the first of those given.
void check_first_steps(const std::vector<string>& expected, const std::vector<Way>& ways) {
  REQUIRE(expected.size() >= n_compared_steps);
  const std::vector<string> first(expected.begin(), expected.begin() + n_compared_steps);
  for (const auto& [device, strategy, ranks] : ways) {
    CAPTURE(device, strategy, ranks);
    CHECK(steps_of(ranks, command(device, strategy, "fixed_tree", "late", 0, n_compared_steps)) == first);
  }
}
std::vector<Way> every_way(const std::vector<string>& strategies) {
  std::vector<Way> ways;
  for (const string& strategy : strategies)
    for (const int ranks : {1, 2, 4})
      for (const string device : {"gpu", "recorded"}) ways.push_back({device, strategy, ranks});
  return ways;
}

}  // namespace

// gpu_covering_test.cpp shows three steps of fp8, and of preferences, with every strategy; these are longer.
TEST_CASE("GPUs with products in fp8 have losses near a CPU's, and in the fixed tree the bits of one") {
  const std::vector<string> cpu = steps_of(1, command("cpu", "Fp8Replicate", "fixed_tree")),
                            one = steps_of(1, command("gpu", "Fp8Replicate", "fixed_tree"));
  CHECK(worst_difference(one, cpu) < 1e-3);
  check_first_steps(one,
                    {{"recorded", "Fp8Replicate", 1}, {"gpu", "Fp8FullShard", 2}, {"recorded", "Fp8ShardGradOp", 4}});
}
TEST_CASE("GPUs with products in fp8 have the bits of one on any number of ranks in every way", "[.][exhaustive]") {
  check_first_steps(steps_of(1, command("gpu", "Fp8Replicate", "fixed_tree")),
                    every_way({"Fp8Replicate", "Fp8ShardGradOp", "Fp8FullShard"}));
}
TEST_CASE("recorded steps of GPUs with products in fp8 have the same bits in every schedule of streams") {
  check_schedules("Fp8FullShard", "fixed_tree", {10, 11}, "recorded");
  check_schedules("Fp8ShardGradOp", "any_order", {12}, "recorded");
}
TEST_CASE("GPUs learn preferences with the losses of a CPU, and in the fixed tree the bits of one, recorded or not") {
  const std::vector<string> cpu = steps_of(1, command("cpu", "PreferencesReplicate", "fixed_tree")),
                            one = steps_of(1, command("gpu", "PreferencesReplicate", "fixed_tree"));
  CHECK(losses_of(cpu).back() < losses_of(cpu).front());
  CHECK(worst_difference(one, cpu) < 1e-6);
  check_first_steps(one, {{"recorded", "PreferencesFullShard", 1},
                          {"recorded", "PreferencesReplicate", 2},
                          {"gpu", "PreferencesFullShard", 4}});
}
TEST_CASE("GPUs learn preferences with the bits of one on any number of ranks in every way", "[.][exhaustive]") {
  check_first_steps(steps_of(1, command("gpu", "PreferencesReplicate", "fixed_tree")),
                    every_way({"PreferencesReplicate", "PreferencesFullShard"}));
}
TEST_CASE("recorded steps of GPUs that learn preferences have the same bits in every schedule of streams") {
  check_schedules("PreferencesFullShard", "any_order", {13, 14}, "recorded");
}
namespace {

constexpr int n_taught_steps = 4;
std::vector<string> taught(const string& strategy, const string& device) {
  return command(device, strategy, "fixed_tree", "late", 0, n_taught_steps);
}

}  // namespace

TEST_CASE(
    "GPUs learn from a teacher with the losses of a CPU, and in the fixed tree the bits of one, recorded or not") {
  const std::vector<string> cpu = steps_of(1, command("cpu", "TaughtReplicate", "fixed_tree")),
                            one = steps_of(1, command("gpu", "TaughtReplicate", "fixed_tree"));
  CHECK(losses_of(cpu).back() < losses_of(cpu).front());
  CHECK(worst_difference(one, cpu) < 1e-6);
  REQUIRE(one.size() >= n_taught_steps);
  const std::vector<string> first(one.begin(), one.begin() + n_taught_steps);
  CHECK(steps_of(2, taught("TaughtReplicate", "recorded")) == first);
  CHECK(steps_of(4, taught("TaughtShardGradOp", "recorded")) == first);
  CHECK(steps_of(1, taught("TaughtFullShard", "recorded")) == first);
  CHECK(steps_of(2, taught("TaughtFullShard", "gpu")) == first);
  CHECK(steps_of(4, taught("TaughtFullShard", "recorded")) == first);
}
TEST_CASE("GPUs learn from a teacher with the bits of one on any number of ranks in every way", "[.][exhaustive]") {
  const std::vector<string> first = steps_of(1, taught("TaughtReplicate", "gpu"));
  for (const string strategy : {"TaughtReplicate", "TaughtShardGradOp", "TaughtFullShard"})
    for (const int ranks : {1, 2, 4})
      for (const string device : {"gpu", "recorded"}) {
        CAPTURE(strategy, ranks, device);
        CHECK(steps_of(ranks, taught(strategy, device)) == first);
      }
  for (const string device : {"gpu", "recorded"}) check_schedules("TaughtShardGradOp", "fixed_tree", {17, 18}, device);
}
TEST_CASE("recorded steps of GPUs that learn from a teacher have the same bits in every schedule of streams") {
  check_schedules("TaughtFullShard", "any_order", {15}, "recorded");
}
TEST_CASE("GPUs that take turns at matrices have the losses of a CPU, and in the fixed tree the bits of one") {
  const std::vector<string> cpu =
                                steps_of(1, command("cpu", "MuonReplicate", "fixed_tree", "late", 0, n_compared_steps)),
                            one =
                                steps_of(1, command("gpu", "MuonReplicate", "fixed_tree", "late", 0, n_compared_steps));
  CHECK(losses_of(cpu).back() < losses_of(cpu).front());
  CHECK(worst_difference(one, cpu) < 1e-4);
  check_first_steps(one, {{"recorded", "MuonFullShard", 2},
                          {"gpu", "MuonFullShard", 4},
                          {"recorded", "MuonShardOptimizer", 4},
                          {"gpu", "MuonShardOptimizer", 2}});
  check_schedules("MuonFullShard", "any_order", {19}, "recorded");
}
TEST_CASE("GPUs that share a micro-batch of pairs of texts have the losses of a CPU with all of it, recorded or not") {
  constexpr int n = 5;  // then so few pairs are known by heart, and losses are hardly more than rounding
  const auto steps_on = [](const string& device, const string& strategy, int ranks) {
    return steps_of(ranks, command(device, strategy, "any_order", "late", 0, n));
  };
  const std::vector<string> cpu = steps_on("cpu", "PairsReplicate", 1);
  CHECK(losses_of(cpu).size() == n);
  CHECK(losses_of(cpu).back() < losses_of(cpu).front());
  for (const auto& [strategy, ranks] : {std::pair("PairsReplicate", 1), {"PairsReplicate", 4}, {"PairsFullShard", 2}}) {
    CAPTURE(strategy, ranks);
    const std::vector<string> gpu = steps_on("gpu", strategy, ranks);
    CHECK(worst_difference(gpu, cpu) < 1e-5);
    CHECK(steps_on("recorded", strategy, ranks) == gpu);
  }
  check_schedules("PairsFullShard", "any_order", {16}, "recorded");
}
TEST_CASE("pairs of GPUs that are replicas have the losses of a CPU, and the bits of one GPU in the fixed tree") {
  check_strategy("HybridShard", {4});
}

TEST_CASE("steps of several GPUs have the same bits in every schedule of streams") {
  check_schedules("FullShard", "any_order", {1, 2, 3});
  check_schedules("ShardOptimizer", "fixed_tree", {4, 5});
}
TEST_CASE("recorded steps of several GPUs have the same bits in every schedule of streams") {
  check_schedules("FullShard", "fixed_tree", {6, 7}, "recorded");
  check_schedules("ShardGradOp", "any_order", {8, 9}, "recorded");
}
namespace {

using StrategyOfRanks = std::pair<string, int>;
/// Of steps of eight micro-batches that are recorded, however many ranks share them.
void check_bits_of_one_gpu(const std::vector<StrategyOfRanks>& all) {
  constexpr int n = 3, micro_batches = 8;
  const auto command_of = [](const string& device, const string& strategy) {
    return command(device, strategy, "fixed_tree", "late", 0, n, micro_batches);
  };
  const std::vector<string> one = steps_of(1, command_of("gpu", "Replicate"));
  CHECK(one.size() == n);
  for (const auto& [strategy, ranks] : all) {
    CAPTURE(strategy, ranks);
    CHECK(steps_of(ranks, command_of("recorded", strategy)) == one);
  }
}

}  // namespace

TEST_CASE("recorded steps in the fixed tree have the bits of one GPU's on 1, 2, 4 and 8 that share in some way") {
  check_bits_of_one_gpu({{"Replicate", 2},
                         {"ShardOptimizer", 4},
                         {"ShardGradOp", 2},
                         {"FullShard", 1},
                         {"FullShard", 8},
                         {"HybridShard", 4}});
}
TEST_CASE("recorded steps in the fixed tree have the bits of one GPU's on 1, 2, 4 and 8 that share in every way",
          "[.][exhaustive]") {
  std::vector<StrategyOfRanks> all{{"HybridShard", 4}, {"HybridShard", 8}};
  for (const string strategy : {"Replicate", "ShardOptimizer", "ShardGradOp", "FullShard"})
    for (const int ranks : {1, 2, 4, 8}) all.emplace_back(strategy, ranks);
  check_bits_of_one_gpu(all);
}
TEST_CASE("recorded steps whose gradients are added up in any order have the bits of others") {
  for (const string strategy : {"Replicate", "ShardOptimizer", "FullShard", "ReducedInBf16"}) {
    CAPTURE(strategy);
    CHECK(steps_of(2, command("recorded", strategy, "any_order", "late", 0, 4)) ==
          steps_of(2, command("gpu", strategy, "any_order", "late", 0, 4)));
  }
}

TEST_CASE("steps of several GPUs have the same bits in many random schedules of streams", "[.][exhaustive]") {
  std::vector<int> seeds(100);
  std::iota(seeds.begin(), seeds.end(), 10);
  for (const string strategy : {"Replicate", "ShardOptimizer", "ShardGradOp", "FullShard"})
    for (const string order : {"any_order", "fixed_tree"})
      for (const string device : {"gpu", "recorded"}) check_schedules(strategy, order, seeds, device);
}

TEST_CASE("gradients that are rounded to bf16 between GPUs are rounded once, and train") {
  const std::vector<string> steps = steps_of(2, command("gpu", "ReducedInBf16", "any_order"));
  CHECK(worst_difference(steps, steps_on_cpu()) < 1e-2);
}

// Where sums have any order; gpu_covering_test.cpp shows it in the fixed tree.
TEST_CASE(
    "from the second step on GPUs are asked for no memory, send what is planned, and their hosts wait once a step") {
  for (const string strategy : {"Replicate", "ShardOptimizer", "FullShard", "Fp8FullShard", "PreferencesFullShard",
                                "TaughtFullShard", "PairsFullShard", "MuonFullShard"})
    for (const string device : {"gpu", "recorded"})
      for (const ProcessResult& result : results_of(2, command(device, strategy, "any_order", "late", 0, 4))) {
        CAPTURE(strategy, device, result.err, result.out);
        CHECK(lines_of(result.out, "traffic: ") == std::vector<string>{"traffic: as planned"});
        CHECK(lines_of(result.out, "a step: ") == std::vector<string>{"a step: 1 waits, 0 allocations"});
      }
}

TEST_CASE("ranks that would share a GPU are refused, each by one line") {
  for (const ProcessResult& result : results_of(2, command("gpu", "Replicate", "any_order"), 1)) {
    CAPTURE(result.err);
    CHECK(result.exit_code == 1);
    CHECK(contains(result.err, "[RANK-26] ranks 0 and 1 have the same GPU"));
  }
}

TEST_CASE("ranks that find no GPU are refused, each by one line") {
  const std::vector<ProcessResult> results = results_of(2, command("gpu", "Replicate", "any_order"), 0);
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    CAPTURE(results[rank].err);
    CHECK(results[rank].exit_code == 1);
    CHECK(contains(results[rank].err, fmt::format("[RANK-15] rank {} needs a GPU, and CUDA has none there", rank)));
  }
}

namespace {

/// Two ranks, and what NCCL has go wrong.
std::vector<ProcessResult> troubled(const string& trouble, int steps = n_steps) {
  const string meeting = new_meeting();
  const std::vector<string> rank_program = command("gpu", "FullShard", "any_order", "late", 0, steps);
  Process first(rank_program, environment(0, 2, meeting, 2, trouble, short_timeout)),
      second(rank_program, environment(1, 2, meeting, 2, trouble, short_timeout));
  std::vector<ProcessResult> results;
  results.push_back(first.wait(std::chrono::seconds(60)));
  results.push_back(second.wait(std::chrono::seconds(60)));
  return results;
}

}  // namespace

TEST_CASE(
    "a rank whose GPU can't be connected with the others' says so in one line, and the others what they wait for") {
  const std::vector<ProcessResult> results = troubled("1 connecting");
  CAPTURE(results[0].err, results[1].err);
  CHECK(results[1].exit_code == 1);
  CHECK(results[1].err ==
        "[RANK-18] rank 1 can't connect its GPU with those of ranks 0, 1 (unhandled system error (run with "
        "NCCL_DEBUG=INFO for details)); NCCL says more with NCCL_DEBUG=INFO\n");
  CHECK(results[0].exit_code == 1);
  CHECK(results[0].err.starts_with("[RANK-18] rank 0 can't connect its GPU with those of ranks 0, 1 ("));
}

TEST_CASE(
    "a rank on which NCCL fails says so in one line, with the collective, unit and group: behind a call, and in it") {
  for (const string what : {"failing", "calling"}) {
    const std::vector<ProcessResult> results = troubled("1 " + what, 1'000);
    CAPTURE(what, results[0].err, results[1].err);
    CHECK(results[1].exit_code == 1);
    CHECK(results[1].err.starts_with(
        "[RANK-27] NCCL failed on this rank (internal error - please report this issue to the NCCL developers)"));
    CHECK(contains(results[1].err, ", while "));
    CHECK(contains(results[1].err, " among ranks 0, 1"));
    CHECK(lines_of(results[1].err, "[").size() == 1);
    CHECK(results[0].exit_code == 1);
    // The one or the other, by how soon the rank that fails has gone.
    CHECK((results[0].err.starts_with("[RANK-11] a rank has gone (") ||
           results[0].err.starts_with("[RANK-12] a rank did not send its part within failure.rank_timeout, while ")));
  }
}

namespace {

/// `check --collectives` of ranks on GPUs of which `shards` hold one copy of the parameters together.
std::vector<ProcessResult> checked(int ranks, int shards, const string& order, const string& trouble = "") {
  const string meeting = new_meeting();
  std::deque<Process> processes;
  for (int rank = 0; rank < ranks; ++rank)
    processes.emplace_back(std::vector<string>{MONOMORPH_SIMULATED_CHECK, std::to_string(shards), order},
                           environment(rank, ranks, meeting, ranks, trouble));
  std::vector<ProcessResult> results;
  for (Process& process : processes) results.push_back(process.wait());
  return results;
}

}  // namespace

TEST_CASE("a check runs every collective between GPUs, in every group of ranks, and messages between all pairs") {
  for (const string order : {"any_order", "fixed_tree"})
    for (const ProcessResult& result : checked(4, 2, order)) {
      CAPTURE(order, result.err);
      CHECK(result.exit_code == 0);
      CHECK(result.out ==
            "gather of parameters, ranks 0, 1\ngather of parameters, ranks 2, 3\n"
            "reduction of gradients, ranks 0, 1\nreduction of gradients, ranks 2, 3\n"
            "the same, then with replicas, ranks 0, 2\nthe same, then with replicas, ranks 1, 3\npairs: true\n");
    }
}

TEST_CASE("a check finds the numbers that NCCL gets wrong between GPUs, names the rank, and the others end with it") {
  struct Case {
    int shards;
    string order, what, message;
  };
  for (const auto& [shards, order, what, message] :
       {Case{2, "any_order", "all-gather", "the gather of parameters gives"},
        {2, "any_order", "reduce-scatter", "the reduction of gradients gives"},
        {1, "any_order", "all-reduce", "the reduction of gradients gives"},
        {2, "fixed_tree", "message", "the reduction of gradients gives"},
        {2, "any_order", "message", "the message from rank 0 gives"}}) {
    const std::vector<ProcessResult> results = checked(2, shards, order, "1 " + what);
    CAPTURE(shards, order, what, results[0].err, results[1].err);
    CHECK(results[1].exit_code == 1);
    CHECK(results[1].err.starts_with("[RANK-13] " + message + " rank 1 wrong numbers"));
    CHECK(results[0].exit_code == 1);
    CHECK(results[0].err.starts_with("[RANK-08] rank 1"));
  }
}

namespace {

/// Two ranks, of which the second one is stopped or killed in the middle: what the first one says, and how long it
/// takes.
ProcessResult left_alone_by(int signal, const string& device = "gpu") {
  const string meeting = new_meeting();
  const std::vector<string> rank_program = command(device, "FullShard", "any_order", "late", 0, 1'000'000);
  Process first(rank_program, environment(0, 2, meeting, 2, "", short_timeout)),
      second(rank_program, environment(1, 2, meeting, 2, "", short_timeout));
  REQUIRE(second.wait_for_output("step 5 "));
  second.signal(signal);
  ProcessResult result = first.wait(std::chrono::seconds(60));
  second.signal(SIGKILL);
  return result;
}

}  // namespace

TEST_CASE("a rank that vanishes ends the others with one line that says in which collective, of which unit and group") {
  for (const string device : {"gpu", "recorded"}) {
    const ProcessResult killed = left_alone_by(SIGKILL, device);
    CAPTURE(device, killed.err);
    CHECK(killed.exit_code == 1);
    CHECK(killed.err.starts_with(
        "[RANK-11] a rank has gone (remote process exited or there was a network error), while "));
    CHECK(contains(killed.err, " among ranks 0, 1"));
  }
}
TEST_CASE("a rank that stops ends the others within the time limit, with the same line") {
  for (const string device : {"gpu", "recorded"}) {
    const ProcessResult stopped = left_alone_by(SIGSTOP, device);
    CAPTURE(device, stopped.err);
    CHECK(stopped.exit_code == 1);
    CHECK(stopped.err.starts_with("[RANK-12] a rank did not send its part within failure.rank_timeout, while "));
    CHECK(contains(stopped.err, " among ranks 0, 1"));
  }
}

}  // namespace monomorph::testing
