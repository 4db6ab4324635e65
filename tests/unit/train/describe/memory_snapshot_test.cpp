#include "train/describe/memory_snapshot.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/run.hpp>

#include <nlohmann/json.hpp>

using namespace monomorph;
using namespace monomorph::train;
using namespace monomorph::testing;

namespace memory_snapshots {
namespace {

struct Small {
  static constexpr DecoderSpec model{
      .vocab_size = 100, .n_layers = 2, .n_heads = 2, .d_model = 64, .context_length = 16};
  using sharding = sharding::FullShard;
  using precision = precision::Bf16Mixed;
  using checkpointing = checkpointing::RecomputeCheap;
  using optimizer = optim::HostState<optim::AdamW>;
};

template <class R> RecipeProgram program() {
  RecipeProgram program;
  program.name = "small";
  program.memory = plan::memory<R>;
  program.memory_regions = memory_regions<R>;
  program.planned = plan::planned_recipe<R>();
  return program;
}

nlohmann::json snapshot(const PlannedRank& rank = {2, 4, 0}) {
  return nlohmann::json::parse(memory_snapshot(program<Small>(), rank));
}
/// The only region of a name, or the first of several.
nlohmann::json region(const std::string& name) {
  const nlohmann::json all = snapshot();
  for (const auto& region : all.at("regions"))
    if (region.at("name") == name) return region;
  return {};
}

}  // namespace

TEST_CASE("a snapshot has the phases of a step in their order") {
  CHECK(phase_names(program<Small>()) == std::vector<std::string>{"forward embedding", "forward layers.0",
                                                                  "forward layers.1", "forward and backward head",
                                                                  "backward layers.1", "backward layers.0",
                                                                  "backward embedding", "update"});
  CHECK(snapshot().at("phases").size() == 8);
}

TEST_CASE("a snapshot has one record for each region, within the arena that it names") {
  const nlohmann::json all = snapshot();
  const plan::Memory memory = plan::memory<Small>(2, 4);
  CHECK(all.at("recipe") == "small");
  CHECK(all.at("ranks") == 2);
  CHECK(all.at("micro_batch") == 4);
  CHECK(all.at("device_arena_bytes") == memory.arena());
  CHECK(all.at("host_arena_bytes") == memory.host());
  for (const auto& region : all.at("regions")) {
    CAPTURE(region.dump());
    const std::int64_t end = region.at("offset").get<std::int64_t>() + region.at("bytes").get<std::int64_t>();
    CHECK(end <= (region.at("arena") == "host" ? memory.host() : memory.arena()));
    CHECK(region.at("bytes") > 0);
    CHECK(0 <= region.at("first_phase"));
    CHECK(region.at("first_phase") <= region.at("last_phase"));
    CHECK(region.at("last_phase") < 8);
  }
}

TEST_CASE("a region has the bytes of the plan, and the phases in which it is used") {
  // 4 x 16 tokens of width 64 in bf16, from the forward of the layer to its backward.
  const auto output = region("output of layers.0");
  CHECK(output.at("bytes") == 4 * 16 * 64 * 2);
  CHECK(output.at("first_phase") == 1);
  CHECK(output.at("last_phase") == 5);
  const auto gradient = region("gradient of the residual stream");
  CHECK(gradient.at("first_phase") == 3);
  CHECK(gradient.at("last_phase") == 6);
  // Both ranks' parts of the block, of 64^2 x 12 elements of matrices and 13 x 64 of norms and biases: gathered while
  // the layer before is computed, and kept as the head is next.
  const auto gathered = region("gathered parameters of layers.1");
  CHECK(gathered.at("bytes") >= (12 * 64 * 64 + 13 * 64) * 2);
  CHECK(gathered.at("first_phase") == 1);
  CHECK(gathered.at("last_phase") == 4);
  CHECK(region("optimizer state of layers.0").at("arena") == "host");
  CHECK(region("gradients of layers.0").at("first_phase") == 5);
  CHECK(region("gradients of layers.0").at("last_phase") == 6);  // reduced while the next layer goes back
  CHECK(region("shard of gradients of layers.0").at("last_phase") == 7);
  CHECK(region("numbers of a step").at("last_phase") == 7);
}

TEST_CASE("more in a micro-batch, and a tree of gradients, are in the snapshot") {
  const auto bytes_of = [](const nlohmann::json& all, const std::string& what) {
    std::int64_t bytes = 0;
    for (const auto& region : all.at("regions"))
      if (contains(region.at("name").get<std::string>(), what)) bytes += region.at("bytes").get<std::int64_t>();
    return bytes;
  };
  CHECK(bytes_of(snapshot({2, 8, 0}), "output of") == 2 * bytes_of(snapshot({2, 4, 0}), "output of"));
  CHECK(bytes_of(snapshot({2, 4, 0}), "partial sums") == 0);
  CHECK(bytes_of(snapshot({2, 4, 3}), "partial sums") == plan::memory<Small>(2, 4, 3).gradient_tree);
}

TEST_CASE("the text view has a line for each phase, and the head's is the fullest") {
  const std::string text = memory_by_phase(program<Small>(), {2, 4, 0});
  CAPTURE(text);
  CHECK(std::ranges::count(text, '\n') == 9);
  CHECK(contains(text, "forward and backward head"));
  CHECK(contains(text, "####"));
}

}  // namespace memory_snapshots
