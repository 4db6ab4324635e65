// Several ranks, as processes that meet over the network of this machine.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <nlohmann/json.hpp>

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

using namespace monomorph::testing;

namespace {

/// One thread each, as there may be more ranks than cores.
const Process::Environment one_thread{{"OMP_NUM_THREADS", "1"}};

ProcessResult train_on(const Workplace& place, int ranks, const std::string& name, std::vector<std::string> sets = {}) {
  sets.insert(sets.begin(), {"batch.micro_batch=1", "batch.reduction=fixed_tree"});
  Arguments arguments = place.training(name, sets);
  arguments.insert(arguments.end(), {"--ranks", std::to_string(ranks)});
  return place.run(arguments, one_thread);
}

/// A port that nothing on this machine has open.
std::string free_port() {
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  REQUIRE(::bind(socket, reinterpret_cast<sockaddr*>(&address), size) == 0);
  REQUIRE(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) == 0);
  ::close(socket);
  return std::to_string(ntohs(address.sin_port));
}

/// Starts one rank as a launcher does that says where the ranks meet.
Process rank_of_two(const Workplace& place, int rank, const Arguments& arguments, const std::string& port) {
  Arguments command{program(place.recipe())};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return Process(command, {{"RANK", std::to_string(rank)},
                           {"WORLD_SIZE", "2"},
                           {"LOCAL_WORLD_SIZE", "2"},
                           {"MASTER_ADDR", "127.0.0.1"},
                           {"MASTER_PORT", port},
                           {"OMP_NUM_THREADS", "1"}});
}

/// Two ranks of a run that saves after every fifth step.
struct TwoRanks {
  TwoRanks(const Workplace& place, const std::vector<std::string>& sets, const std::string& port = free_port())
      : ranks{rank_of_two(place, 0, arguments(place, sets), port),
              rank_of_two(place, 1, arguments(place, sets), port)} {}
  static Arguments arguments(const Workplace& place, std::vector<std::string> sets) {
    sets.insert(sets.end(), {"batch.micro_batch=2", "checkpoint.every=5", "checkpoint.resume=auto",
                             "batch.reduction=fixed_tree", "schedule.kind=constant"});
    return place.training("run", sets);
  }
  Process ranks[2];
};

/// The last step that a run's output tells of; 0 if none.
std::int64_t last_step(const std::string& out) {
  const std::size_t found = out.rfind("\nstep ");
  return found == std::string::npos ? 0 : std::stoll(out.substr(found + 6));
}

}  // namespace

TEST_CASE(
    "with the fixed tree a run ends in the same bits on 1, 2 and 4 ranks, and when their number changes half-way") {
  for (const std::string recipe : {"tiny_gpt2", "tiny_llama"}) {
    CAPTURE(recipe);
    const Workplace place(recipe);
    for (const int ranks : {1, 2, 4}) REQUIRE(train_on(place, ranks, "on" + std::to_string(ranks)).exit_code == 0);
    const std::string expected = final_state(place / "on1");
    CHECK(final_state(place / "on2") == expected);
    CHECK(final_state(place / "on4") == expected);
    CHECK(metric(place / "on4", "loss") == metric(place / "on1", "loss"));
    CHECK(metric(place / "on4", "evaluation_loss") == metric(place / "on1", "evaluation_loss"));

    REQUIRE(train_on(place, 4, "changing", {"run.steps=5", "schedule.kind=constant"}).exit_code == 0);
    REQUIRE(train_on(place, 2, "changing", {"checkpoint.resume=auto", "schedule.kind=constant"}).exit_code == 0);
    REQUIRE(train_on(place, 1, "unchanging", {"schedule.kind=constant"}).exit_code == 0);
    CHECK(final_state(place / "changing") == final_state(place / "unchanging"));
  }
}

TEST_CASE("what is wrong with several ranks is said before any of them starts, or by each of them") {
  const Workplace place("tiny_gpt2");
  check_refusal(train_on(place, 3, "run"), 2, {"[HPARAM-11]", "8", "1 x 3"});
  check_refusal(train_on(place, 3, "run", {"batch.global_batch=9"}), 2, {"[HPARAM-18]", "not 3", "take 2 or 4"});
  for (const auto& [variable, value] : Process::Environment{{"WORLD_SIZE", "many"}, {"SLURM_STEP_NUM_TASKS", "0"}})
    check_refusal(place.run(place.training("run"), {{variable, value}}), 2, {"[RANK-01]", variable, value});
  check_refusal(place.run(place.training("run"), {{"PMI_SIZE", "2"}, {"PMI_RANK", "1"}}), 2,
                {"[RANK-02]", "mpiexec", "MASTER_ADDR"});
  const ProcessResult alone =
      place.run(place.training("run", {"failure.rank_timeout=2"}),
                {{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "127.0.0.1"}, {"MASTER_PORT", "1"}});
  check_refusal(alone, 1, {"[RANK-04]", "127.0.0.1:1", "MASTER_ADDR"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("ranks that were given other hyperparameters are named before the first step") {
  const Workplace place("tiny_gpt2");
  const std::string port = free_port();
  Process odd = rank_of_two(place, 1, place.training("run", {"batch.micro_batch=2", "optimizer.lr=0.5"}), port);
  Process first = rank_of_two(place, 0, place.training("run", {"batch.micro_batch=2"}), port);
  for (Process* rank : {&first, &odd})
    check_refusal(rank->wait(), 2, {"[RANK-06] rank 1 has other hyperparameters", "optimizer.lr is 0.5 there"});
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("SIGTERM to the ranks' parent saves and ends all of them") {
  const Workplace place("tiny_gpt2");
  Arguments command{program("tiny_gpt2")};
  for (const std::string& argument : place.training("run", {"run.steps=1000000", "batch.micro_batch=2"}))
    command.push_back(argument);
  command.insert(command.end(), {"--ranks", "2"});
  Process parent(command, one_thread);
  REQUIRE(parent.wait_for_output("step  "));
  parent.signal(SIGTERM);
  const ProcessResult result = parent.wait();
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "saving after step"));
  CHECK(checkpoints_of(place / "run").size() == 1);
}

TEST_CASE("a rank that dies or hangs ends the other with its name, and a restart goes on from the last checkpoint") {
  for (const auto& [signal, victim, parts] :
       {std::tuple{SIGKILL, 1, std::vector<std::string>{"rank 1", "while", "no word from rank 1"}},
        {SIGKILL, 0, {"rank 0", "while", "meeting point does not answer"}},
        {SIGSTOP, 1, {"[RANK-12] rank 1 did not", "while", "no word from rank 1"}}}) {
    CAPTURE(signal, victim);
    const Workplace place("tiny_gpt2");
    std::int64_t last = 0;
    {
      TwoRanks run(place, {"run.steps=1000000", "failure.rank_timeout=3"});
      REQUIRE(run.ranks[0].wait_for_output("step      12"));
      run.ranks[victim].signal(signal);
      std::vector<std::string> all = parts;
      all.insert(all.end(), {"in step", "checkpoint.resume=auto"});
      const ProcessResult other = run.ranks[1 - victim].wait();
      CHECK(other.exit_code == 1);
      CHECK(is_one_line(other.err));
      CAPTURE(other.err);
      for (const std::string& part : all) CHECK(contains(other.err, part));
      last = last_step(run.ranks[0].out());
    }
    REQUIRE(last >= 12);
    const std::string steps = "run.steps=" + std::to_string(last + 3);
    TwoRanks restarted(place, {steps});
    for (Process& rank : restarted.ranks) CHECK(rank.wait().exit_code == 0);
    const std::string out = restarted.ranks[0].out();
    const std::size_t resumed = out.find("resumed after step ");
    REQUIRE(resumed != std::string::npos);
    CHECK(std::stoll(out.substr(resumed + 19)) >= last - 5);
  }
}

TEST_CASE("ranks killed at random moments, in saves too, lose no more than the steps since the last checkpoint") {
  const Workplace place("tiny_gpt2");
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    CAPTURE(round);
    TwoRanks run(place, {"run.steps=1000000", "checkpoint.every=1", "failure.rank_timeout=20"});
    std::this_thread::sleep_for(std::chrono::milliseconds(400 + random() % 1200));
    const int victim = static_cast<int>(random() % 2);
    run.ranks[victim].signal(SIGKILL);
    CHECK(run.ranks[1 - victim].wait().exit_code == 1);
    CHECK(checkpoints_of(place / "run").size() <= 3);  // two to keep, and what a save has left
  }
  const std::int64_t last = std::stoll(checkpoints_of(place / "run").back().substr(5));
  REQUIRE(last > 0);
  TwoRanks end(place, {"run.steps=" + std::to_string(last + 4)});
  for (Process& rank : end.ranks) REQUIRE(rank.wait().exit_code == 0);
  REQUIRE(train_on(place, 1, "quiet",
                   {"run.steps=" + std::to_string(last + 4), "batch.micro_batch=2", "schedule.kind=constant"})
              .exit_code == 0);
  CHECK(final_state(place / "run") == final_state(place / "quiet"));
}

TEST_CASE("check knows what each of several ranks needs, and tries their collectives") {
  const Workplace place("tiny_llama");
  const Arguments training = place.training("run", {"batch.micro_batch=1"});
  Arguments check{"check"};
  check.insert(check.end(), training.begin(), training.end());
  check.insert(check.end(), {"--ranks", "4"});
  const ProcessResult planned = place.run(check);
  CHECK(planned.exit_code == 0);
  CHECK(contains(planned.out, "on each of 4 ranks"));
  check.push_back("--collectives");
  const ProcessResult tried = place.run(check, one_thread);
  CAPTURE(tried.out, tried.err);
  CHECK(tried.exit_code == 0);
  for (const std::string part :
       {"4 ranks, every result right", "reduction of gradients among", "slowest pair: ranks", "GB/s"})
    CHECK(contains(tried.out, part));
  CHECK_FALSE(std::filesystem::exists(place / "run"));
}

TEST_CASE("a trace has the compute of every unit and the collectives on rows of their own, for each rank") {
  const Workplace place("tiny_llama");
  Arguments arguments = place.training("run", {"batch.micro_batch=2", "run.steps=5"});
  arguments.insert(arguments.end(), {"--ranks", "2", "--trace", "steps=2"});
  const ProcessResult result = place.run(arguments, one_thread);
  REQUIRE(result.exit_code == 0);
  CHECK(contains(result.out, "traced steps 2 to 3"));
  CHECK(contains(result.out, "% of the collectives' time was hidden behind compute"));
  for (const std::string rank : {"0", "1"}) {
    const auto trace = nlohmann::json::parse(read_bytes(place / ("run/trace_rank_0000" + rank + ".json")));
    std::map<std::string, int> counts;
    for (const auto& event : trace.at("traceEvents")) {
      ++counts[event.at("name").get<std::string>()];
      CHECK(event.at("pid") == std::stoi(rank));
      if (event.at("ph") == "X") CHECK(event.at("dur").get<double>() >= 0);
    }
    for (const std::string name : {"forward 1", "forward 2", "backward 1", "backward 2"}) CHECK(counts[name] == 4);
    for (const std::string name : {"update 0", "update 1"}) CHECK(counts[name] == 2);
    CHECK(counts["gather 1"] >= 1);  // that of the first traced step began before it
    CHECK(counts["reduce 1"] >= 2);
  }
  check_refusal(place.run({"--trace", "3"}), 2, {"[RUN-13]", "steps=N"});
}
