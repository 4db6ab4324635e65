#include "train/scaling/describe_scaling.hpp"

#include "recipes.hpp"
#include "support/catch.hpp"
#include "support/error_of.hpp"

using namespace monomorph;
using namespace monomorph::train;
using namespace scaling_tests;
using monomorph::testing::error_of;

namespace {

ScalingQuestion question(int ranks, std::string_view network = "infiniband400") {
  return {{find_gpu("h100"), find_network(network), 8}, ranks, 1, 0};
}
template <class R> std::string refusal(const ScalingQuestion& question) {
  return error_of([&] { check(plan::planned_recipe<R>(), question); });
}

}  // namespace

TEST_CASE("clusters that a recipe can't be trained on are refused, and what to do is said") {
  CHECK(refusal<Llama8b>(question(64)) == "(no error)");
  CHECK(refusal<Llama8b>(question(8, "")) == "(no error)");
  CHECK(refusal<Llama8b>(question(64, "")) ==
        "[SCALE-01] 64 ranks, of which 8 share a node, must have a network between nodes; name it with --network, or "
        "give --gpus-per-node");
  CHECK(refusal<Llama8b>(question(12)) ==
        "[SCALE-02] ranks on several nodes must be a multiple of the 8 GPUs of a node, and are 12; change --ranks or "
        "--gpus-per-node");
  CHECK(refusal<InFp64>(question(1)) ==
        "[SCALE-03] the data sheet of h100 must have a rate of products in fp64, in which the recipe computes; name "
        "another --gpu, or change the recipe's precision");
  ScalingQuestion of_fp8 = question(1);
  of_fp8.cluster.gpu = find_gpu("a100");
  CHECK(refusal<Llama8bInFp8>(of_fp8) ==
        "[SCALE-03] the data sheet of a100 must have a rate of products in fp8, in which the recipe computes; name "
        "another --gpu, or change the recipe's precision");
  ScalingQuestion odd = question(64);
  odd.micro_batch = 3, odd.global_batch = 256;
  CHECK(refusal<Llama8b>(odd) ==
        "[SCALE-04] --global-batch must be a multiple of ranks x --micro-batch = 64 x 3 = 192, and is 256; change one "
        "of the three");
  odd.global_batch = 384;
  CHECK(refusal<Llama8b>(odd) == "(no error)");
}

TEST_CASE("what is predicted is said of the recipe as it is, and of every strategy") {
  const std::string text = describe_scaling(plan::planned_recipe<Llama8b>(), question(64));
  CAPTURE(text);
  for (const std::string part : {"predicted on 64 x h100, 8 of them a node, infiniband400 (micro-batch 1, 1 a step)",
                                 "H100, by its data sheet", "989.4 TFLOP/s of products in bf16 (fp32 66.9, fp16 989.4)",
                                 "roof", "communication", "MFU", "(PaLM)", "Replicate", "ShardOptimizer", "ShardGradOp",
                                 "FullShard", "HybridShardGradOp<8>", "HybridShard<8>", "does not fit"})
    CHECK(text.find(part) != std::string::npos);
  const std::string plans = describe_search(plan::planned_recipe<Llama8b>(), question(64));
  CHECK(plans.find("using sharding = monomorph::sharding::") != std::string::npos);
  CHECK(plans.find("using checkpointing = monomorph::checkpointing::") != std::string::npos);
  CHECK(plans.find("--set batch.micro_batch=") != std::string::npos);
}

TEST_CASE("where no plan fits, it is said by how much, and what to do") {
  ScalingQuestion of_one = question(1, "");
  of_one.cluster.gpu = find_gpu("a100");
  const std::string message = error_of([&] { describe_search(plan::planned_recipe<Llama8b>(), of_one); });
  CAPTURE(message);
  CHECK(
      message.starts_with("[SCALE-05] a rank must fit in 95 % of the 80.0 GiB of a100, and in the smallest plan "
                          "(Replicate, EveryBlock, micro-batch 1) takes "));
  CHECK(
      message.ends_with(" too much; give more --ranks or a --gpu with more memory, or let the recipe have shorter "
                        "sequences or optim::HostState"));
  CHECK(message.find('\n') == std::string::npos);
}
