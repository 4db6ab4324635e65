#include "runtime/distributed/launch_environment.hpp"

#include <map>
#include <monomorph/core/error.hpp>
#include <string>
#include "support/catch.hpp"
#include "support/error_of.hpp"

namespace launch_environment_test {

using monomorph::distributed::LaunchEnvironment;
using monomorph::distributed::read_launch_environment;

namespace {

using Environment = std::map<std::string, std::string>;

std::optional<LaunchEnvironment> read(const Environment& environment) {
  return read_launch_environment([&](const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

std::string error_in(const Environment& environment) {
  return monomorph::testing::error_of([&] { read(environment); });
}

bool says(const std::string& message, std::initializer_list<const char*> parts) {
  for (const char* const part : parts) {
    UNSCOPED_INFO(message);
    if (!monomorph::testing::contains(message, part)) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("without a launcher, and with one that starts one rank, there is nothing to join") {
  CHECK_FALSE(read({}).has_value());
  CHECK_FALSE(read({{"WORLD_SIZE", "1"}, {"RANK", "0"}}).has_value());
  CHECK_FALSE(
      read({{"SLURM_NTASKS", "4"}, {"SLURM_JOB_ID", "7"}}).has_value());  // an allocation, and no step of srun's
}

TEST_CASE("torchrun's environment") {
  const Environment environment{{"RANK", "3"},           {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "a.b"},
                                {"MASTER_PORT", "1234"}, {"LOCAL_RANK", "1"}, {"TORCHELASTIC_USE_AGENT_STORE", "True"}};
  const LaunchEnvironment found = read(environment).value();
  CHECK(found.launcher == "torchrun");
  CHECK(found.rank == 3);
  CHECK(found.size == 8);
  CHECK(found.local_rank == 1);
  CHECK(found.host == "a.b");
  CHECK(found.port == 1234);
  CHECK(found.served_by_launcher);
}

TEST_CASE("srun's environment: the first node of the step, and a port of the job's own") {
  Environment environment{{"SLURM_STEP_NUM_TASKS", "4"},
                          {"SLURM_PROCID", "2"},
                          {"SLURM_JOB_ID", "77"},
                          {"SLURM_STEP_ID", "0"},
                          {"SLURM_STEP_NODELIST", ""}};
  for (const auto& [list, first] : Environment{{"node7", "node7"},
                                               {"node[07-09,12]", "node07"},
                                               {"n1,n2", "n1"},
                                               {"gpu[3,5]", "gpu3"},
                                               {"login,gpu[3,5]", "login"}}) {
    environment["SLURM_STEP_NODELIST"] = list;
    CHECK(read(environment).value().host == first);
  }
  const LaunchEnvironment found = read(environment).value();
  CHECK(found.launcher == "srun");
  CHECK(found.rank == 2);
  CHECK(found.size == 4);
  CHECK(found.port >= 20'000);
  CHECK_FALSE(found.served_by_launcher);
  environment["SLURM_JOB_ID"] = "78";
  CHECK(read(environment).value().port != found.port);
  environment["MASTER_ADDR"] = "elsewhere";
  environment["MASTER_PORT"] = "5";
  CHECK(read(environment).value().host == "elsewhere");
  CHECK(read(environment).value().port == 5);
}

TEST_CASE("Open MPI's environment: on one machine it is this one, on several it must be said") {
  Environment environment{{"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}};
  CHECK(read(environment).value().host == "127.0.0.1");
  environment["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";
  CHECK(monomorph::testing::error_of([&] { read(environment); }).starts_with("[RANK-02]"));
  environment["MASTER_ADDR"] = "head";
  CHECK(read(environment).value().host == "head");
}

TEST_CASE("the place of a rank on its machine: as the launcher says, or as ranks are mostly laid out") {
  Environment environment{{"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_RANK", "3"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                          {"MASTER_ADDR", "head"}};
  CHECK(read(environment).value().local_rank == 1);
  environment["OMPI_COMM_WORLD_LOCAL_RANK"] = "0";
  CHECK(read(environment).value().local_rank == 0);
  environment["OMPI_COMM_WORLD_LOCAL_RANK"] = "4";
  CHECK(monomorph::testing::error_of([&] { read(environment); }).starts_with("[RANK-01]"));
}

TEST_CASE("values that can't be are named") {
  for (const auto& [name, value] : {std::pair{"WORLD_SIZE", "many"},
                                    {"WORLD_SIZE", "0"},
                                    {"WORLD_SIZE", "99999999999"},
                                    {"RANK", "-1"},
                                    {"RANK", "4"},
                                    {"RANK", "1x"},
                                    {"RANK", ""},
                                    {"MASTER_PORT", "70000"},
                                    {"MASTER_PORT", "http"}}) {
    Environment environment{{"RANK", "1"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
    environment[name] = value;
    const std::string error = monomorph::testing::error_of([&] { read(environment); });
    CAPTURE(name, value, error);
    CHECK(error.find(name) != std::string::npos);
    CHECK(error.starts_with("[RANK-01]"));
  }
}

TEST_CASE("half of a launcher's variables is refused, whatever their values, and what is missing is named") {
  const auto refused = [](const Environment& environment, std::initializer_list<const char*> parts) {
    const std::string error = error_in(environment);
    CHECK(error.starts_with("[RANK-21]"));
    CHECK(says(error, parts));
  };
  for (const char* const rank : {"0", "1"}) {
    refused({{"RANK", rank}}, {"WORLD_SIZE must be set", "RANK = ", rank});
    refused({{"LOCAL_RANK", rank}}, {"WORLD_SIZE must be set", "LOCAL_RANK = ", rank});
    refused({{"RANK", rank}, {"LOCAL_RANK", rank}, {"LOCAL_WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}, {"WORLD_SIZE"});
    refused({{"OMPI_COMM_WORLD_RANK", rank}}, {"OMPI_COMM_WORLD_SIZE must be set", "OMPI_COMM_WORLD_RANK = "});
    refused({{"OMPI_COMM_WORLD_LOCAL_RANK", rank}}, {"OMPI_COMM_WORLD_SIZE must be set"});
    refused({{"PMI_RANK", rank}}, {"PMI_SIZE must be set", "PMI_RANK = "});
    refused({{"MPI_LOCALRANKID", rank}, {"MPI_LOCALNRANKS", "2"}}, {"PMI_SIZE must be set"});
  }
  refused({{"LOCAL_WORLD_SIZE", "2"}}, {"WORLD_SIZE must be set", "LOCAL_WORLD_SIZE = 2"});
  for (const char* const size : {"1", "4"}) {
    refused({{"WORLD_SIZE", size}}, {"variable RANK must be set", "WORLD_SIZE = "});
    refused({{"OMPI_COMM_WORLD_SIZE", size}}, {"OMPI_COMM_WORLD_RANK must be set"});
    refused({{"PMI_SIZE", size}}, {"PMI_RANK must be set"});
    refused({{"SLURM_STEP_NUM_TASKS", size}}, {"SLURM_PROCID must be set"});
  }
  refused({{"SLURM_PROCID", "1"}}, {"SLURM_STEP_NUM_TASKS must be set", "SLURM_PROCID = 1"});
  refused({{"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "1"}}, {"SLURM_STEP_NUM_TASKS must be set"});
  refused({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_ADDR", "a"}}, {"MASTER_PORT must be set", "MASTER_ADDR = a"});
  CHECK(error_in({{"WORLD_SIZE", "2"}, {"RANK", "1"}, {"MASTER_PORT", "1"}}).starts_with("[RANK-02]"));
}

TEST_CASE("what is added to a step of one task must say the same as for one of several") {
  const Environment interactive_shell{{"SLURM_STEP_NUM_TASKS", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}};
  CHECK_FALSE(read(interactive_shell).has_value());
  Environment added = interactive_shell;
  added["LOCAL_RANK"] = "0";  // a script that has LOCAL_RANK=$SLURM_LOCALID
  CHECK_FALSE(read(added).has_value());
  for (const char* const name : {"RANK", "LOCAL_RANK"}) {
    Environment by_hand = interactive_shell;
    by_hand[name] = "1";
    CHECK(error_in(by_hand).starts_with("[RANK-22]"));
  }
}

TEST_CASE("what real environments have besides is not taken for a launcher") {
  CHECK_FALSE(read({{"MASTER_ADDR", "a"}}).has_value());
  CHECK_FALSE(read({{"MASTER_ADDR", "a"}, {"MASTER_PORT", "not read"}}).has_value());
  const Environment in_sbatch{{"SLURM_NTASKS", "8"},  {"SLURM_TASKS_PER_NODE", "4(x2)"},
                              {"SLURM_JOB_ID", "7"},  {"SLURM_PROCID", "0"},
                              {"SLURM_LOCALID", "0"}, {"SLURM_NODEID", "0"}};
  CHECK_FALSE(read(in_sbatch).has_value());
  Environment torchrun_in_sbatch = in_sbatch;
  torchrun_in_sbatch.merge(Environment{{"RANK", "3"}, {"WORLD_SIZE", "4"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}});
  CHECK(read(torchrun_in_sbatch).value().rank == 3);
  // torchrun of one rank in each of several tasks: eight runs, as a search of hyperparameters has them
  const Environment one_of_eight{{"RANK", "0"},
                                 {"WORLD_SIZE", "1"},
                                 {"SLURM_STEP_NUM_TASKS", "8"},
                                 {"SLURM_PROCID", "3"}};
  CHECK(says(error_in(one_of_eight), {"[RANK-22]", "WORLD_SIZE = 1", "SLURM_STEP_NUM_TASKS = 8"}));
  Environment by_torchrun = one_of_eight;
  by_torchrun["TORCHELASTIC_RUN_ID"] = "none";
  CHECK_FALSE(read(by_torchrun));
}

TEST_CASE("what a job script adds to a launcher's variables must say the same") {
  const Environment step{{"SLURM_STEP_NUM_TASKS", "4"},
                         {"SLURM_PROCID", "2"},
                         {"SLURM_LOCALID", "0"},
                         {"SLURM_JOB_ID", "77"},
                         {"SLURM_STEP_NODELIST", "n1,n2"}};
  const auto with = [&](const Environment& more) {
    Environment all = step;
    all.insert(more.begin(), more.end());
    return all;
  };
  for (const Environment& same : {Environment{{"WORLD_SIZE", "4"}, {"MASTER_ADDR", "n1"}, {"MASTER_PORT", "1"}},
                                  {{"RANK", "2"}},
                                  {{"LOCAL_RANK", "0"}},
                                  {{"RANK", "2"}, {"LOCAL_RANK", "0"}},
                                  {{"LOCAL_WORLD_SIZE", "2"}}}) {
    CHECK(read(with(same)).value().launcher == "srun");
    CHECK(read(with(same)).value().rank == 2);
  }
  CHECK(says(error_in(with({{"WORLD_SIZE", "8"}})), {"[RANK-22]", "WORLD_SIZE = 8", "SLURM_STEP_NUM_TASKS = 4"}));
  CHECK(says(error_in(with({{"RANK", "1"}})), {"[RANK-22]", "RANK = 1", "SLURM_PROCID = 2"}));
  CHECK(says(error_in(with({{"LOCAL_RANK", "1"}})), {"[RANK-22]", "LOCAL_RANK = 1", "SLURM_LOCALID = 0"}));
  CHECK(says(error_in(with({{"RANK", "first"}})), {"[RANK-01]", "RANK"}));
}

TEST_CASE("mpiexec that srun has started is found, and so is srun that speaks PMI") {
  Environment environment{{"PMI_SIZE", "8"},        {"PMI_RANK", "5"},
                          {"MPI_LOCALNRANKS", "4"}, {"MPI_LOCALRANKID", "1"},
                          {"MASTER_ADDR", "n1"},    {"SLURM_STEP_NUM_TASKS", "2"},
                          {"SLURM_PROCID", "1"},    {"SLURM_STEP_NODELIST", "n[1-2]"}};
  const LaunchEnvironment started_by_srun = read(environment).value();
  CHECK(started_by_srun.launcher == "mpiexec");
  CHECK(started_by_srun.rank == 5);
  CHECK(started_by_srun.size == 8);
  CHECK(started_by_srun.local_rank == 1);
  environment["SLURM_STEP_NUM_TASKS"] = "1";  // in an interactive shell
  environment["SLURM_PROCID"] = "0";
  CHECK(read(environment).value().size == 8);
  environment["SLURM_STEP_NUM_TASKS"] = "8";
  environment["SLURM_PROCID"] = "5";
  CHECK(read(environment).value().launcher == "srun");
}

TEST_CASE("numbers that can't be are refused for every launcher") {
  const Environment torchrun{{"RANK", "1"},       {"WORLD_SIZE", "4"},  {"LOCAL_WORLD_SIZE", "2"},
                             {"LOCAL_RANK", "1"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "1"}};
  const Environment mpirun{{"OMPI_COMM_WORLD_RANK", "1"},
                           {"OMPI_COMM_WORLD_SIZE", "4"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                           {"MASTER_ADDR", "a"}};
  const Environment mpiexec{
      {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}, {"MPI_LOCALNRANKS", "2"}, {"MPI_LOCALRANKID", "1"}, {"MASTER_ADDR", "a"}};
  const Environment srun{{"SLURM_PROCID", "1"},
                         {"SLURM_STEP_NUM_TASKS", "4"},
                         {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"},
                         {"SLURM_LOCALID", "1"},
                         {"MASTER_ADDR", "a"}};
  for (const Environment& whole : {torchrun, mpirun, mpiexec, srun}) {
    CHECK(read(whole).value().local_size == 2);
    for (const auto& [name, value] : whole) {
      if (name == "MASTER_ADDR") continue;
      for (const char* const wrong : {"", " 1", "1 ", "+1", "0x1", "1.0", "one", "-1", "4", "99999999999999999999"}) {
        const bool is_size = name.ends_with("SIZE") || name.ends_with("TASKS") || name == "MPI_LOCALNRANKS" ||
                             name == "MASTER_PORT" || name.ends_with("PER_NODE");
        if (is_size && std::string_view(wrong) == "4") continue;
        Environment changed = whole;
        changed[name] = wrong;
        const std::string error = error_in(changed);
        CAPTURE(name, wrong, error);
        CHECK(error.starts_with("[RANK-01] the environment variable " + name + " must be"));
      }
    }
  }
  Environment changed = torchrun;
  changed["LOCAL_RANK"] = "2";
  CHECK(says(error_in(changed), {"[RANK-01]", "LOCAL_RANK must be a number from 0 to 1"}));
  changed["LOCAL_WORLD_SIZE"] = "5";
  CHECK(says(error_in(changed), {"[RANK-01]", "LOCAL_WORLD_SIZE must be a number from 1 to 4"}));
  CHECK(says(error_in({{"RANK", "1"}, {"WORLD_SIZE", "1"}}), {"[RANK-01]", "RANK must be 0, and is \"1\""}));
}

}  // namespace launch_environment_test
