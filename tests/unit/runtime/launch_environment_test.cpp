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

}  // namespace launch_environment_test
