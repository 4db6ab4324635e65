#include "train/scaling/roof.hpp"

#include "recipes.hpp"
#include "support/catch.hpp"
#include "train/scaling/strategies.hpp"

using namespace monomorph;
using namespace monomorph::train;
using namespace scaling_tests;

namespace roofs {
namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20;
/// As drivers tell them.
const DeviceUse h100{.gpu = "NVIDIA H100 80GB HBM3", .peak_memory_bytes = 500 * mib, .free_memory_bytes = 80'500 * mib};

template <class R> double roof_on_h100(std::int64_t micro_batch, int ranks = 1) {
  return roof_seconds(plan::planned_recipe<R>(), h100, {ranks, ranks}, micro_batch, 1).value();
}
template <class R> double products_alone(std::int64_t micro_batch) {
  return static_cast<double>(micro_batch * R::model.context_length) * plan::flops_per_token<R>().exact / 989.4e12;
}

}  // namespace

TEST_CASE("a GPU is found by the name that its driver has for it, and its memory") {
  CHECK(find_gpu_of_driver("NVIDIA H100 80GB HBM3", 81'559 * mib)->name == "h100");
  CHECK(find_gpu_of_driver("NVIDIA H200", 143'771 * mib)->name == "h200");
  CHECK(find_gpu_of_driver("NVIDIA A100-SXM4-80GB", 81'920 * mib)->name == "a100");
  CHECK(find_gpu_of_driver("NVIDIA A100-SXM4-40GB", 40'960 * mib)->name == "a100-40gb");
  CHECK(find_gpu_of_driver("NVIDIA H100 64GB HBM2e", 65'247 * mib)->name == "h100-marenostrum5");
  CHECK(find_gpu_of_driver("NVIDIA H100 96GB HBM3", 97'871 * mib) == nullptr);
  CHECK(find_gpu_of_driver("NVIDIA H100 PCIe", 81'559 * mib) == nullptr);
  CHECK(find_gpu_of_driver("a GPU that this machine plays", 80'000 * mib) == nullptr);
}

TEST_CASE("the roof lies between the products alone and the prediction") {
  const auto check = [&]<class R>(R, std::int64_t micro_batch, int ranks) {
    CAPTURE(micro_batch, ranks);
    const auto recipe = plan::planned_recipe<R>();
    const Cluster cluster{find_gpu("h100"), nullptr, 8};
    const PlannedRun run{cluster, ranks, micro_batch, 1, recipe.strategy(ranks)};
    const double roof = roof_seconds(recipe, run);
    CHECK(roof > products_alone<R>(micro_batch));
    CHECK(roof < predict(recipe, run).step_seconds);
    CHECK(roof == roof_on_h100<R>(micro_batch, ranks));
  };
  check(Gpt2{}, 1, 1);
  check(Gpt2{}, 64, 1);
  check(Gpt2{}, 8, 8);
  check(Llama8b{}, 1, 8);
  check(Zero2{}, 2, 8);
  check(Llama8bByMuon{}, 1, 8);
}

TEST_CASE("of a step of large products the roof is little more than these, of one that reads its weights it is that") {
  const double one = roof_on_h100<Gpt2>(1), many = roof_on_h100<Gpt2>(256);
  CHECK(many / products_alone<Gpt2>(256) < 1.6);
  CHECK(one / products_alone<Gpt2>(1) > many / products_alone<Gpt2>(256));
  // Master, moments and gradients in fp32 and the copy in bf16: each is read, all but gradients are written.
  const double update = 124'439'808.0 * (2 * 4 + 2 * 4 + 2 * 8 + 2) / 3350e9;
  CHECK(one - products_alone<Gpt2>(1) > update);
}

TEST_CASE("what is computed again has a roof, too") {
  const auto recipe = plan::planned_recipe<Gpt2>();
  const Cluster cluster{find_gpu("h100"), nullptr, 8};
  PlannedRun run{cluster, 1, 32, 1, recipe.strategy(1)};
  const double kept = roof_seconds(recipe, run);
  run.strategy.checkpointing = plan::checkpointing_values<checkpointing::EveryBlock>;
  CHECK(roof_seconds(recipe, run) > 1.15 * kept);  // all but each block's last product: 16.6 % of the operations
}

TEST_CASE("where the hardware is not known there is no roof") {
  const auto of = [&]<class R>(R, const DeviceUse& use, LaunchedRanks ranks = LaunchedRanks{}) {
    return roof_seconds(plan::planned_recipe<R>(), use, ranks, 1, 1);
  };
  CHECK(of(Gpt2{}, h100));
  CHECK_FALSE(of(Gpt2{}, DeviceUse{}));  // processors
  CHECK_FALSE(of(Gpt2{}, DeviceUse{.gpu = "NVIDIA GeForce RTX 4090", .free_memory_bytes = 24'000 * mib}));
  CHECK_FALSE(of(InFp64{}, h100));
  CHECK_FALSE(of(Gpt2{}, h100, LaunchedRanks{16, 8}));
}

}  // namespace roofs
