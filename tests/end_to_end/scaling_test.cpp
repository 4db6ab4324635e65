// What describe says of GPUs that are not there.
#include "programs.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace monomorph::testing;

TEST_CASE("describe predicts a step on GPUs, beside what it says without") {
  const std::string plain = run_program("tiny_gpt2_fsdp", {"describe", "--ranks", "16"}).out;
  const ProcessResult result =
      run_program("tiny_gpt2_fsdp", {"describe", "--ranks", "16", "--gpu", "h100", "--network", "infiniband400"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  REQUIRE(result.out.starts_with(plain));
  for (const std::string part : {"predicted on 16 x h100, 8 of them a node, infiniband400", "peak", "roof", "MFU",
                                 "FullShard", "HybridShard<8>", "memory of a rank"})
    CHECK(contains(result.out.substr(plain.size()), part));
}

TEST_CASE("describe proposes plans as lines for a recipe") {
  const ProcessResult result = run_program("tiny_llama", {"describe", "--ranks", "8", "--gpu", "a100", "--search"});
  CAPTURE(result.out, result.err);
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "1. "));
  CHECK(contains(result.out, "using sharding = monomorph::sharding::"));
  CHECK(contains(result.out, "using checkpointing = monomorph::checkpointing::"));
  CHECK(contains(result.out, "--set batch.micro_batch="));
}

TEST_CASE("describe chooses the micro-batch that a run on such GPUs, or on this machine, would have") {
  const auto line_of = [](const Arguments& arguments) {
    const ProcessResult result =
        run_program("tiny_gpt2", with<std::string>({"describe", "--micro-batch", "auto"}, arguments));
    CAPTURE(result.out, result.err);
    CHECK(result.exit_code == 0);
    const std::size_t found = result.out.find("batch.micro_batch = ");
    REQUIRE(found != std::string::npos);
    return result.out.substr(found, result.out.find('\n', found) - found);
  };
  CHECK(
      line_of({"--gpu", "h100", "--ranks", "2", "--global-batch", "128"}) ==
      "batch.micro_batch = 64 (auto: the most that divide a rank's 64 sequences and fit 95 % of the 80.0 GiB of h100)");
  CHECK(
      line_of({"--ranks", "2", "--global-batch", "128"})
          .starts_with("batch.micro_batch = 8 (auto: the most that divide a rank's 64 sequences, are 8 or fewer and "));
  // About 0.5 MiB for each sequence of 32 tokens, so that some hundred thousands of them fill a GPU.
  const std::string many = line_of({"--gpu", "h100", "--global-batch", "1048576"});
  CAPTURE(many);
  const std::int64_t micro_batch = std::stoll(many.substr(std::string("batch.micro_batch = ").size()));
  CHECK(micro_batch > 1024);
  CHECK(micro_batch < 1048576);
  CHECK(contains(
      run_program("tiny_gpt2", {"describe", "--gpu", "h100", "--micro-batch", std::to_string(2 * micro_batch)}).out,
      "DOES NOT FIT"));
}

TEST_CASE("describe refuses clusters that can't be, in one line") {
  const auto refuses = [](const Arguments& arguments, const std::vector<std::string>& parts) {
    check_refusal(run_program("tiny_gpt2_fsdp", with<std::string>({"describe"}, arguments)), 2, parts);
  };
  refuses({"--ranks", "16", "--gpu", "h100"}, {"SCALE-01", "--network"});
  refuses({"--ranks", "12", "--gpu", "h100", "--network", "infiniband400"}, {"SCALE-02", "12"});
  refuses({"--ranks", "8", "--gpu", "h100", "--global-batch", "12"}, {"SCALE-04", "12"});
  refuses({"--gpu", "h1000"}, {"RUN-13", "h1000", "b200"});
  refuses({"--ranks", "16", "--network", "infiniband400"}, {"RUN-13", "--gpu"});
  refuses({"--search"}, {"RUN-13", "--gpu"});
  refuses({"--gpu", "h100", "--search", "--micro-batch", "2"}, {"RUN-13", "--search", "--micro-batch"});
  refuses({"--gpu", "h100", "--search", "--memory-snapshot", "memory.json"},
          {"RUN-13", "--search", "--memory-snapshot"});
  refuses({"--gpu", "h100", "--micro-batch", "auto"}, {"RUN-13", "--global-batch"});
  refuses({"--micro-batch", "auto"}, {"RUN-13", "--global-batch"});
  refuses({"--global-batch", "8"}, {"RUN-13", "--micro-batch auto"});
  refuses({"--ranks", "4", "--global-batch", "6", "--micro-batch", "auto"}, {"SCALE-04", "6"});
  refuses({"--micro-batch", "most"}, {"RUN-13", "--micro-batch must be a whole number", "or auto", "most"});
  refuses({"--gpu", "h100", "--gpus-per-node", "0"}, {"RUN-13", "--gpus-per-node"});
}
