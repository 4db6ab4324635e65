// What starts ranks, each tried for real where it is installed; Slurm by the environment that srun makes.
#include "launched.hpp"
#include "network_namespaces.hpp"
#include "ranks.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <sys/types.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

using namespace monomorph::testing;

namespace {

constexpr std::int64_t steps = 12;

/// The program with the arguments of a run into the folder "run" that a launcher may start again and again.
Arguments run_of(const Workplace& place, const std::vector<std::string>& sets = {}) {
  return command(place, place.training("run", restartable(sets)));
}

/// That a run on two ranks ended well, and in the same bits as on one.
void check_run(const Workplace& place, const std::vector<ProcessResult>& results, std::int64_t n_steps = steps) {
  std::string out;
  for (const ProcessResult& result : results) {
    CAPTURE(result.out, result.err);
    CHECK(result.exit_code == 0);
    out += result.out;
  }
  CHECK(contains(out, "on each of 2 ranks"));
  CHECK(last_step(out) == n_steps);
  CHECK(final_state(place / "run") == undisturbed_state(place, n_steps));
}

/// What srun says to each task of a step of two.
Process::Environment srun_environment(int rank, const std::string& nodes, const std::string& tasks_per_node) {
  return {{"SLURM_JOB_ID", std::to_string(::getpid())},  {"SLURM_STEP_ID", "0"},         {"SLURM_STEP_NUM_TASKS", "2"},
          {"SLURM_STEP_TASKS_PER_NODE", tasks_per_node}, {"SLURM_STEP_NODELIST", nodes}, {"SLURM_NTASKS", "2"},
          {"SLURM_PROCID", std::to_string(rank)}};
}

/// A torchrun is PyTorch's. MONOMORPH_TORCHRUN names one, or PATH has it, or bench/step has installed its peers.
std::optional<std::string> torchrun() {
  const char* const named = std::getenv("MONOMORPH_TORCHRUN");
  if (named != nullptr && *named != '\0') return named;
  if (auto found = find_program("torchrun")) return found;
  const std::string of_benches = MONOMORPH_SOURCE_DIR "/.deps/bench-python/bin/torchrun";
  return ::access(of_benches.c_str(), X_OK) == 0 ? std::optional(of_benches) : std::nullopt;
}
constexpr const char* no_torchrun =
    "there is no torchrun in PATH, MONOMORPH_TORCHRUN names none, and no bench has installed one; that of .deps/site "
    "does not start, as the tests download neither PyTorch's Python packages nor all of its CUDA libraries (2.7 GB)";

}  // namespace

TEST_CASE("mpirun's ranks end in the bits of one") {
  if (!find_program("mpirun") || !contains(run_process({"mpirun", "--version"}).out, "Open MPI"))
    MONOMORPH_SKIP("there is no mpirun of Open MPI");
  const Workplace place("tiny_gpt2");
  const Launched launched;
  const Process::Environment root{{"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                  {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                  {"OMPI_MCA_plm", "isolated"}};  // this machine alone, so without ssh
  Process mpirun(with(Arguments{"mpirun", "--oversubscribe", "-n", "2"}, run_of(place)),
                 with(launched.environment(), root));
  check_run(place, {mpirun.wait()});
}

TEST_CASE("srun's ranks save and end when Slurm warns all or one of them, and go on to the bits of one") {
  const Workplace place("tiny_gpt2");
  const auto environment = [](int rank) { return with(one_thread, srun_environment(rank, "127.0.0.1", "2")); };
  for (const std::vector<int>& warned : {std::vector{0, 1}, {1}, {0}}) {
    Process first(run_of(place, {"run.steps=1000000"}), environment(0)),
        second(run_of(place, {"run.steps=1000000"}), environment(1));
    REQUIRE(first.wait_for_output("\nstep  "));
    for (const int rank : warned) (rank == 0 ? first : second).signal(SIGTERM);
    for (Process* const rank : {&first, &second}) CHECK(rank->wait().exit_code == 0);
    CHECK(contains(first.out(), std::string(warned[0] == 0 ? "signal 15" : "a signal to another rank") +
                                    ": saving after step " + std::to_string(last_saved_step(place / "run"))));
  }
  const std::int64_t end = last_saved_step(place / "run") + 3;
  const Arguments run = run_of(place, {"run.steps=" + std::to_string(end)});
  Process first(run, environment(0)), second(run, environment(1));
  check_run(place, {first.wait(), second.wait()}, end);
}

TEST_CASE("torchrun's ranks save and end when it is asked to, and go on to the bits of one") {
  if (!torchrun()) MONOMORPH_SKIP(no_torchrun);
  const Workplace place("tiny_gpt2");
  const Launched launched;
  const Arguments on_this_machine{*torchrun(), "--no-python", "--nproc-per-node", "2", "--master-port", free_port()};
  {
    Process stopped(with(on_this_machine, run_of(place, {"run.steps=1000000"})), launched.environment());
    REQUIRE(stopped.wait_for_output("\nstep  "));
    stopped.signal(SIGTERM);
    CHECK_FALSE(stopped.wait().timed_out);  // its exit code says that it was ended by a signal, whatever its ranks did
    CHECK(contains(stopped.out(), "saving after step " + std::to_string(last_saved_step(place / "run"))));
  }
  const std::int64_t end = last_saved_step(place / "run") + 3;
  Process resumed(with(on_this_machine, run_of(place, {"run.steps=" + std::to_string(end)})), launched.environment());
  check_run(place, {resumed.wait()}, end);
}

TEST_CASE("torchrun starts all ranks again when one is killed, and they go on to the bits of an undisturbed run") {
  if (!torchrun()) MONOMORPH_SKIP(no_torchrun);
  const Workplace place("tiny_gpt2");
  const Launched launched;
  constexpr std::int64_t end = 120;
  Process run(with(Arguments{*torchrun(), "--no-python", "--nproc-per-node", "2", "--max-restarts", "2",
                             "--master-port", free_port()},
                   run_of(place, {"run.steps=" + std::to_string(end), "checkpoint.every=5"})),
              launched.environment());
  std::int64_t saved = 0;
  for (const auto& [restarts, rank] : {std::pair{"0", "1"}, {"1", "0"}}) {
    const auto victims =
        launched.wait_for(1, {std::string("RANK=") + rank, std::string("TORCHELASTIC_RESTART_COUNT=") + restarts});
    REQUIRE(victims.size() == 1);
    REQUIRE(wait_for_save(place / "run", saved + 10));
    saved = last_saved_step(place / "run");
    ::kill(victims.front(), SIGKILL);
  }
  const ProcessResult result = run.wait();
  CHECK(resumed_after(result.out).value_or(0) >= saved);
  check_run(place, {result}, end);
}

TEST_CASE("ranks meet again when one torchrun has counted a failure and the other has not") {
  if (!torchrun()) MONOMORPH_SKIP(no_torchrun);
  const Workplace place("tiny_gpt2");
  const Launched launched;
  constexpr std::int64_t end = 80;
  const std::string endpoint = "127.0.0.1:" + free_port();
  const auto node = [&](const std::string& is_host, const std::string& restarts) {
    const Arguments agent{*torchrun(),      "--no-python", "--nnodes",       "2",        "--nproc-per-node", "1",
                          "--max-restarts", restarts,      "--rdzv-backend", "c10d",     "--rdzv-endpoint",  endpoint,
                          "--rdzv-conf",    is_host,       "--local-addr",   "127.0.0.1"};
    return with(agent, run_of(place, {"run.steps=" + std::to_string(end), "checkpoint.every=5"}));
  };
  const auto of_node = [&](const std::string& name) { return with(launched.environment(), {{"NODE", name}}); };
  Process first(node("is_host=1", "0"), of_node("unaware")), second(node("is_host=0", "1"), of_node("failing"));
  const auto unaware = launched.wait_for(1, {"NODE=unaware", "LOCAL_RANK=0"}),
             failing = launched.wait_for(1, {"NODE=failing", "LOCAL_RANK=0"});
  REQUIRE(unaware.size() == 1);
  REQUIRE(failing.size() == 1);
  REQUIRE(wait_for_save(place / "run", 10));
  ::kill(unaware.front(), SIGSTOP);  // so its node, which may start no rank again, hears of it from the other alone
  ::kill(failing.front(), SIGKILL);
  std::this_thread::sleep_for(std::chrono::seconds(5));
  ::kill(unaware.front(), SIGCONT);
  const std::vector<ProcessResult> results{first.wait(), second.wait()};
  CHECK(resumed_after(results[0].out + results[1].out).value_or(0) >= 10);
  check_run(place, results, end);
}

TEST_CASE("two torchruns with a static rendezvous make one run") {
  if (!torchrun()) MONOMORPH_SKIP(no_torchrun);
  const Workplace place("tiny_gpt2");
  const Launched launched;
  const std::string port = free_port();
  const auto node = [&](const std::string& rank) {
    return with(Arguments{*torchrun(), "--no-python", "--nnodes", "2", "--node-rank", rank, "--nproc-per-node", "1",
                          "--master-addr", "127.0.0.1", "--master-port", port},
                run_of(place));
  };
  Process first(node("0"), launched.environment()), second(node("1"), launched.environment());
  check_run(place, {first.wait(), second.wait()});
}

TEST_CASE("srun's ranks on two nodes end when the cable is cut, and go on to the bits of one") {
  std::string why_not;
  const auto nodes = TwoNodes::make(why_not);
  if (nodes == nullptr) MONOMORPH_SKIP(why_not);
  const Workplace place("tiny_gpt2");
  const Launched launched;
  const auto environment = [&](int rank) {
    return with(launched.environment(),
                srun_environment(rank, TwoNodes::address(0) + "," + TwoNodes::address(1), "1(x2)"));
  };
  {
    const Arguments run = run_of(place, {"run.steps=1000000", "checkpoint.every=5", "failure.rank_timeout=3"});
    Process first(nodes->on(0, run), environment(0)), second(nodes->on(1, run), environment(1));
    REQUIRE(first.wait_for_output("\nstep      12"));
    nodes->set_link(1, false);
    check_lost_rank(first.wait(), 1, "no word from rank 1");
    check_lost_rank(second.wait(), 0, "no word from rank 0");
  }
  nodes->set_link(1, true);
  const std::int64_t saved = last_saved_step(place / "run"), end = saved + 3;
  CHECK(saved >= 5);  // the checkpoint in flight, if there is one, is lost
  const Arguments run = run_of(place, {"run.steps=" + std::to_string(end)});
  Process first(nodes->on(0, run), environment(0)), second(nodes->on(1, run), environment(1));
  const ProcessResult result = first.wait();
  CHECK(resumed_after(result.out) == saved);
  check_run(place, {result, second.wait()}, end);
}

TEST_CASE("torchrun on two nodes starts all ranks again when one is killed, to the bits of an undisturbed run") {
  if (!torchrun()) MONOMORPH_SKIP(no_torchrun);
  std::string why_not;
  const auto nodes = TwoNodes::make(why_not);
  if (nodes == nullptr) MONOMORPH_SKIP(why_not);
  const Workplace place("tiny_gpt2");
  const Launched launched;
  constexpr std::int64_t end = 80;
  const auto node = [&](int number) {
    const Arguments agent{*torchrun(),        "--no-python",
                          "--nnodes",         "2",
                          "--nproc-per-node", "1",
                          "--max-restarts",   "2",
                          "--rdzv-backend",   "c10d",
                          "--rdzv-endpoint",  TwoNodes::address(0) + ":29500",
                          "--rdzv-conf",      number == 0 ? "is_host=1" : "is_host=0",
                          "--local-addr",     TwoNodes::address(number)};
    return nodes->on(number, with(agent, run_of(place, {"run.steps=" + std::to_string(end), "checkpoint.every=5"})));
  };
  const auto environment = with(launched.environment(), {{"RES_OPTIONS", "timeout:1 attempts:1"}});  // no names there
  Process first(node(0), environment), second(node(1), environment);
  const auto victims = launched.wait_for(1, {"RANK=1"});
  REQUIRE(victims.size() == 1);
  REQUIRE(wait_for_save(place / "run", 10));
  const std::int64_t saved = last_saved_step(place / "run");
  ::kill(victims.front(), SIGKILL);
  const std::vector<ProcessResult> results{first.wait(), second.wait()};
  CHECK(resumed_after(results[0].out + results[1].out).value_or(0) >= saved);
  check_run(place, results, end);
}
