#include "train/describe/memory_snapshot.hpp"

#include "support/catch.hpp"
#include "support/error_of.hpp"

#include <monomorph/run.hpp>
#include <monomorph/train/describe/teacher_regions.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

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

/// What a snapshot reads of a teacher.
template <class R> RecipeProgram teacher_program() {
  using Teacher = plan::TeacherOf<R>;
  RecipeProgram program;
  program.memory_regions = teacher_regions<R>;
  program.planned = plan::planned_teacher<R>;
  program.compute_dtype = Teacher::precision::compute_dtype;
  program.n_units = plan::n_units<Teacher>;
  program.unit_layout = plan::unit_layout<Teacher>;
  program.trains_tensor = plan::trains_tensor<Teacher>;
  return program;
}

template <class R> RecipeProgram program() {
  RecipeProgram program;
  program.name = "small";
  program.memory = plan::memory<R>;
  program.memory_regions = memory_regions<R>;
  program.planned = plan::planned_recipe<R>();
  program.compute_dtype = R::precision::compute_dtype;
  program.gradient_dtype = R::precision::gradient_dtype;
  program.master_dtype = R::precision::master_dtype;
  program.n_units = plan::n_units<R>;
  program.unit_layout = plan::unit_layout<R>;
  program.trains_tensor = plan::trains_tensor<R>;
  if constexpr (has_teacher<objective_of<R>>) program.teacher = teacher_program<R>;
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

namespace {

struct Alone : Small {
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Fp32;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};
struct Rotary : Alone {
  static constexpr DecoderSpec model{.vocab_size = 100,
                                     .n_layers = 2,
                                     .n_heads = 2,
                                     .d_model = 64,
                                     .context_length = 16,
                                     .position = Position::rotary,
                                     .tied_head = false};
  using precision = monomorph::precision::Bf16Mixed;
};
struct Offloaded : Rotary {
  using checkpointing = monomorph::checkpointing::Offload<>;
};

/// Bytes of an arena in which regions of a kind lie, whenever they do.
std::int64_t laid_out(const nlohmann::json& all, const nlohmann::json& kind) {
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (const nlohmann::json& region : all.at("regions"))
    if (region.at("kind") == kind.at("kind") && region.at("arena") == kind.at("arena"))
      ranges.emplace_back(region.at("offset"), region.at("bytes"));
  std::ranges::sort(ranges);
  std::int64_t bytes = 0, end = 0;
  for (const auto& [offset, length] : ranges) {
    bytes += std::max<std::int64_t>(0, offset + length - std::max(offset, end));
    end = std::max(end, offset + length);
  }
  return bytes;
}

/// Regions of a kind lie in all that the plan has for it, but for what pads buffers to 64 bytes, and at the peak all of
/// it is in use, unless units take turns in slots.
template <class R> void check_kinds(const PlannedRank& rank, bool has_slots = false) {
  const nlohmann::json all = nlohmann::json::parse(memory_snapshot(program<R>(), rank));
  std::map<std::string, std::int64_t> bytes;  // by arena
  for (const nlohmann::json& kind : all.at("kinds")) {
    CAPTURE(kind.dump());
    const std::int64_t planned = kind.at("planned_bytes"), peak = kind.at("peak_bytes");
    CHECK(peak <= planned);
    CHECK(planned - laid_out(all, kind) <= 4 * 512);
    if (!has_slots) CHECK(planned - peak <= 4 * 512);
    bytes[kind.at("arena")] += planned;
  }
  for (const std::string arena : {"device", "host", "teacher", "teacher_host"})
    CHECK(bytes[arena] == all.value(arena + "_arena_bytes", 0));
}

/// A narrower student of Rotary.
struct Taught : Rotary {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = Rotary::model;
    model.d_model = 32;
    return model;
  }();
  using objective = monomorph::objective::Distillation<Rotary>;
};
struct TaughtOnHost : Taught {
  using sharding = monomorph::sharding::HostParameters<monomorph::sharding::FullShard>;
};

}  // namespace

TEST_CASE("the peak of each kind of memory is what describe has for it") {
  check_kinds<Alone>({1, 4, 0});
  check_kinds<Rotary>({1, 2, 0});
  check_kinds<Offloaded>({1, 2, 0});
  check_kinds<Small>({2, 4, 3}, true);
}

TEST_CASE("a teacher has arenas of its own, of which a snapshot has all that the plan counts") {
  check_kinds<Taught>({1, 2, 0});
  check_kinds<TaughtOnHost>({2, 2, 0}, true);
  const nlohmann::json all = nlohmann::json::parse(memory_snapshot(program<TaughtOnHost>(), {2, 2, 0}));
  const plan::Memory memory = plan::memory<TaughtOnHost>(2, 2);
  CHECK(all.at("teacher_arena_bytes") == memory.teacher);
  CHECK(all.at("teacher_host_arena_bytes") == memory.host_teacher);
  std::map<std::string, nlohmann::json> regions;
  for (const auto& region : all.at("regions"))
    if (region.at("kind") == "teacher") regions[region.at("name")] = region;
  for (const auto& [name, region] : regions) {
    CAPTURE(region.dump());
    const std::int64_t end = region.at("offset").get<std::int64_t>() + region.at("bytes").get<std::int64_t>();
    CHECK(end <= (region.at("arena") == "teacher_host" ? memory.host_teacher : memory.teacher));
    CHECK(region.at("first_phase") == 0);
  }
  const auto& shard = regions.at("shard of parameters of layers.1");
  CHECK(shard.at("arena") == "teacher_host");
  CHECK(shard.at("last_phase") == 7);
  CHECK(shard.at("tensors").at(0).at("name") == plan::unit_layout<plan::TeacherOf<TaughtOnHost>>(2)[0].name);
  CHECK(regions.at("activations of layers in turn").at("last_phase") == 0);
  // What the loss compares is there until the last of the student's four layers.
  const auto& compared = regions.at("activations that the loss compares");
  CHECK(compared.at("bytes") == 2 * 16 * 64 * 2);
  CHECK(compared.at("last_phase") == 3);
  CHECK(regions.at("gathered parameters in turn").at("last_phase") == 3);
  CHECK(contains(memory_by_phase(program<Taught>(), {1, 2, 0}), "the teacher's arena"));
  CHECK_FALSE(snapshot().contains("teacher_arena_bytes"));
}

TEST_CASE("a snapshot has the tensors of units that lie in a region, and of a shard those of rank 0") {
  const auto tensors_of = [](const nlohmann::json& all, const std::string& name) {
    for (const auto& region : all.at("regions"))
      if (region.at("name") == name) return region.value("tensors", nlohmann::json::array());
    return nlohmann::json::array();
  };
  const auto alone = nlohmann::json::parse(memory_snapshot(program<Alone>(), {1, 4, 0}));
  const auto whole = tensors_of(alone, "parameters of layers.1");
  const ParameterLayout layout = plan::unit_layout<Alone>(2);
  REQUIRE(whole.size() == static_cast<std::size_t>(layout.size()));
  nlohmann::json region;
  for (const auto& each : alone.at("regions"))
    if (each.at("name") == "parameters of layers.1") region = each;
  for (int i = 0; i < layout.size(); ++i) {
    CHECK(whole[i].at("name") == layout[i].name);
    CHECK(whole[i].at("dtype") == "fp32");
    CHECK(whole[i].at("bytes") == 4 * layout[i].slice.shape.elements());
    CHECK(whole[i].at("offset") == region.at("offset").get<std::int64_t>() + 4 * layout[i].slice.offset);
  }
  const auto shard = tensors_of(snapshot(), "shard of parameters of layers.1");
  std::int64_t bytes = 0;
  for (const auto& tensor : shard) bytes += tensor.at("bytes").get<std::int64_t>();
  CHECK(shard.size() < whole.size());
  CHECK(shard.back().contains("of_bytes"));  // which the other rank has the rest of
  CHECK(bytes == Approx((12 * 64 * 64 + 13 * 64) * 2 / 2).epsilon(0.02));
}

TEST_CASE("a snapshot is also a file of trace events: counters of bytes by kind, phases, and regions") {
  const auto all = snapshot();
  std::map<std::string, int> counts;
  std::map<int, std::int64_t> in_use;
  for (const auto& event : all.at("traceEvents")) {
    ++counts[event.at("ph")];
    if (event.at("ph") != "C" || event.at("pid") != 0) continue;
    for (const auto& bytes : event.at("args")) in_use[event.at("ts")] += bytes.get<std::int64_t>();
  }
  CHECK(counts.at("X") == 8);
  CHECK(counts.at("C") == 2 * 9);
  CHECK(counts.at("b") == static_cast<int>(all.at("regions").size()));
  CHECK(counts.at("e") == counts.at("b"));
  std::int64_t expected = 0;
  for (const auto& region : all.at("regions"))
    if (region.at("arena") == "device" && region.at("first_phase") <= 3 && 3 <= region.at("last_phase"))
      expected += region.at("bytes").get<std::int64_t>();
  CHECK(in_use.at(3000) == expected);
  CHECK(in_use.at(8000) == 0);
}

TEST_CASE("the text view has a line for each phase, and what fills the fullest") {
  const std::string text = memory_by_phase(program<Small>(), {2, 4, 0});
  CAPTURE(text);
  CHECK(contains(text, "of these, where it is fullest, in update\n  parameters "));
  CHECK(contains(text, "forward and backward head"));
  CHECK(contains(text, "####"));
}

}  // namespace memory_snapshots
