#include "train/describe/memory_snapshot.hpp"

#include "train/describe/fact_text.hpp"

#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>

namespace monomorph::train {
namespace {

using Json = nlohmann::ordered_json;

std::vector<MemoryRegion> regions_of(const RecipeProgram& recipe, const PlannedRank& rank) {
  return recipe.memory_regions(rank.ranks, rank.micro_batch, rank.tree_levels);
}

/// As its tensors are named; what stands beside the blocks and is no embedding and no head has its number.
std::string layer_name(const RecipeProgram& recipe, int layer) {
  const plan::LayerWork work = recipe.planned.layer_work(layer);
  if (work.kind == UnitKind::block) return fmt::format("layers.{}", layer - recipe.planned.first_block);
  if (layer == 0) return "embedding";
  return layer == recipe.planned.n_layers - 1 ? "head" : fmt::format("layer {}", layer);
}

std::string name_of(const RecipeProgram& recipe, const MemoryRegion& region) {
  if (region.layer < 0) return std::string(region.what);
  return fmt::format("{} of {}", region.what, layer_name(recipe, region.layer));
}

/// What a region is, as the table of memory in `describe` has it, in fewer rows.
enum class Kind { parameters, gradients, optimizer, activations, statistics, tables };
constexpr std::string_view kind_names[] = {"parameters",  "gradients",  "optimizer",
                                           "activations", "statistics", "tables and numbers"};
constexpr int n_kinds = static_cast<int>(std::size(kind_names));

Kind kind_of(const MemoryRegion& region) {
  const auto speaks_of = [&](std::string_view word) { return region.what.find(word) != std::string_view::npos; };
  const bool on_host = region.arena == MemorySpace::host;
  if (speaks_of("optimizer") || (on_host && speaks_of("master"))) return Kind::optimizer;
  if (speaks_of("parameters") || speaks_of("master")) return Kind::parameters;
  if (speaks_of("gradient") && !speaks_of("residual")) return Kind::gradients;
  if (speaks_of("statistics")) return Kind::statistics;
  if (speaks_of("numbers") || speaks_of("rotary")) return Kind::tables;
  return Kind::activations;
}

std::int64_t planned_bytes(const plan::Memory& memory, MemorySpace arena, Kind kind) {
  if (arena == MemorySpace::host)
    return kind == Kind::parameters    ? memory.host_params
           : kind == Kind::optimizer   ? memory.host_optimizer
           : kind == Kind::activations ? memory.host_activations
                                       : 0;
  switch (kind) {
    case Kind::parameters:
      return memory.master + memory.compute_params + memory.gathered_params;
    case Kind::gradients:
      return memory.gradients + memory.gathered_gradients + memory.gradient_tree;
    case Kind::optimizer:
      return memory.optimizer_state + memory.optimizer_workspace;
    case Kind::activations:
      return memory.activations;
    case Kind::statistics:
      return memory.statistics;
    case Kind::tables:
      return memory.rotary + memory.scalars;
  }
  __builtin_unreachable();
}

std::string_view name_of(MemorySpace arena) { return arena == MemorySpace::host ? "host" : "device"; }

/// By phase and kind, of one arena: the bytes that are in use.
class Usage {
 public:
  Usage(const std::vector<MemoryRegion>& regions, std::size_t phases, MemorySpace arena) : bytes_(phases) {
    for (const MemoryRegion& region : regions)
      if (region.arena == arena)
        for (int phase = region.phases.first; phase <= region.phases.last; ++phase)
          bytes_[static_cast<std::size_t>(phase)][static_cast<std::size_t>(kind_of(region))] += region.bytes;
  }
  std::int64_t of(std::size_t phase, Kind kind) const { return bytes_[phase][static_cast<std::size_t>(kind)]; }
  std::int64_t of(std::size_t phase) const {
    return std::accumulate(bytes_[phase].begin(), bytes_[phase].end(), std::int64_t{0});
  }
  std::int64_t peak(Kind kind) const {
    std::int64_t most = 0;
    for (std::size_t phase = 0; phase < bytes_.size(); ++phase) most = std::max(most, of(phase, kind));
    return most;
  }
  std::size_t fullest_phase() const {
    std::size_t fullest = 0;
    for (std::size_t phase = 1; phase < bytes_.size(); ++phase)
      if (of(phase) > of(fullest)) fullest = phase;
    return fullest;
  }

 private:
  std::vector<std::array<std::int64_t, n_kinds>> bytes_;
};

/// The dtype of a region that holds the elements of a unit, one behind the other; absent of all others.
std::optional<DType> elements_of_unit(const RecipeProgram& recipe, const MemoryRegion& region) {
  for (const std::string_view what : {"parameters", "gathered parameters", "shard of parameters"})
    if (region.what == what) return recipe.compute_dtype;
  for (const std::string_view what : {"gradients", "shard of gradients"})
    if (region.what == what) return recipe.gradient_dtype;
  return region.what == "master parameters" ? std::optional(recipe.master_dtype) : std::nullopt;
}

/// Or else some of a unit's tensors are frozen, or packed, and it is stored as two or three.
bool stores_units_whole(const RecipeProgram& recipe) {
  if (recipe.quantizes_tensor != nullptr) return false;
  for (int unit = 0; unit < recipe.n_units; ++unit) {
    const ParameterLayout layout = recipe.unit_layout(unit);
    for (const TensorInfo& tensor : layout)
      if (recipe.trains_tensor(unit, tensor) != recipe.trains_tensor(unit, layout[0])) return false;
  }
  return true;
}

/// The tensors of a unit, or of the shard of it that is rank 0's, which holds the first of its elements.
Json tensors_in(const RecipeProgram& recipe, const MemoryRegion& region) {
  Json tensors = Json::array();
  const std::optional<DType> dtype = elements_of_unit(recipe, region);
  if (!dtype) return tensors;
  const std::int64_t element = size_of(*dtype), n = region.bytes / element;
  for (const TensorInfo& tensor : recipe.unit_layout(region.layer)) {
    const std::int64_t all = tensor.slice.shape.elements(), here = std::min(all, n - tensor.slice.offset);
    if (here <= 0) continue;
    tensors.push_back({{"name", tensor.name},
                       {"dtype", monomorph::name_of(*dtype)},
                       {"offset", region.offset + tensor.slice.offset * element},
                       {"bytes", here * element}});
    if (here < all) tensors.back()["of_bytes"] = all * element;
  }
  return tensors;
}

Json region_records(const RecipeProgram& recipe, const std::vector<MemoryRegion>& regions) {
  Json records = Json::array();
  const bool whole_units = stores_units_whole(recipe);
  for (const MemoryRegion& region : regions) {
    records.push_back({{"name", name_of(recipe, region)},
                       {"kind", kind_names[static_cast<std::size_t>(kind_of(region))]},
                       {"arena", name_of(region.arena)},
                       {"offset", region.offset},
                       {"bytes", region.bytes},
                       {"first_phase", region.phases.first},
                       {"last_phase", region.phases.last}});
    if (!whole_units) continue;
    if (Json tensors = tensors_in(recipe, region); !tensors.empty()) records.back()["tensors"] = std::move(tensors);
  }
  return records;
}

Json kind_records(const plan::Memory& memory, const std::vector<MemoryRegion>& regions, std::size_t phases) {
  Json records = Json::array();
  for (const MemorySpace arena : {MemorySpace::device, MemorySpace::host}) {
    const Usage usage(regions, phases, arena);
    for (int i = 0; i < n_kinds; ++i) {
      const Kind kind = static_cast<Kind>(i);
      if (const std::int64_t planned = planned_bytes(memory, arena, kind); planned > 0)
        records.push_back({{"kind", kind_names[i]},
                           {"arena", name_of(arena)},
                           {"planned_bytes", planned},
                           {"peak_bytes", usage.peak(kind)}});
    }
  }
  return records;
}

/// For viewers of Chrome's trace events: a millisecond stands for a phase. Counters of the bytes in use by kind, the
/// phases in a row, and each region from its first to its last phase.
Json trace_events(const RecipeProgram& recipe, const std::vector<MemoryRegion>& regions) {
  constexpr int phase_us = 1000;
  const std::vector<std::string> phases = phase_names(recipe);
  Json events = Json::array();
  const auto pid_of = [](MemorySpace arena) { return arena == MemorySpace::host ? 1 : 0; };
  for (const MemorySpace arena : {MemorySpace::device, MemorySpace::host}) {
    events.push_back({{"name", "process_name"},
                      {"ph", "M"},
                      {"pid", pid_of(arena)},
                      {"args", {{"name", fmt::format("{} arena", name_of(arena))}}}});
    const Usage usage(regions, phases.size(), arena);
    for (std::size_t phase = 0; phase <= phases.size(); ++phase) {
      Json bytes;
      for (int i = 0; i < n_kinds; ++i)
        bytes[std::string(kind_names[i])] = phase < phases.size() ? usage.of(phase, static_cast<Kind>(i)) : 0;
      events.push_back({{"name", "bytes in use"},
                        {"ph", "C"},
                        {"pid", pid_of(arena)},
                        {"ts", static_cast<int>(phase) * phase_us},
                        {"args", std::move(bytes)}});
    }
  }
  for (std::size_t phase = 0; phase < phases.size(); ++phase)
    events.push_back({{"name", phases[phase]},
                      {"ph", "X"},
                      {"pid", 0},
                      {"tid", 0},
                      {"ts", static_cast<int>(phase) * phase_us},
                      {"dur", phase_us}});
  for (std::size_t i = 0; i < regions.size(); ++i) {
    const MemoryRegion& region = regions[i];
    const auto end = [&](const char* ph, int ts) {
      events.push_back({{"name", name_of(recipe, region)},
                        {"cat", kind_names[static_cast<std::size_t>(kind_of(region))]},
                        {"ph", ph},
                        {"id", i},
                        {"pid", pid_of(region.arena)},
                        {"tid", 0},
                        {"ts", ts},
                        {"args", {{"offset", region.offset}, {"bytes", region.bytes}}}});
    };
    end("b", region.phases.first * phase_us);
    end("e", (region.phases.last + 1) * phase_us);
  }
  return events;
}

}  // namespace

std::vector<std::string> phase_names(const RecipeProgram& recipe) {
  const int last = recipe.planned.n_layers - 1;
  std::vector<std::string> names;
  for (int layer = 0; layer < last; ++layer) names.push_back("forward " + layer_name(recipe, layer));
  names.push_back("forward and backward " + layer_name(recipe, last));
  for (int layer = last - 1; layer >= 0; --layer) names.push_back("backward " + layer_name(recipe, layer));
  names.emplace_back("update");
  return names;
}

std::string memory_snapshot(const RecipeProgram& recipe, const PlannedRank& rank) {
  const plan::Memory memory = recipe.memory(rank.ranks, rank.micro_batch, rank.tree_levels);
  const std::vector<MemoryRegion> regions = regions_of(recipe, rank);
  const std::vector<std::string> phases = phase_names(recipe);
  const Json snapshot{{"recipe", recipe.name},
                      {"ranks", rank.ranks},
                      {"micro_batch", rank.micro_batch},
                      {"device_arena_bytes", memory.arena()},
                      {"host_arena_bytes", memory.host()},
                      {"phases", phases},
                      {"kinds", kind_records(memory, regions, phases.size())},
                      {"regions", region_records(recipe, regions)},
                      {"traceEvents", trace_events(recipe, regions)}};
  return snapshot.dump(1) + "\n";
}

std::string memory_by_phase(const RecipeProgram& recipe, const PlannedRank& rank) {
  constexpr std::int64_t longest_bar = 40;
  const std::vector<MemoryRegion> regions = regions_of(recipe, rank);
  const std::int64_t arena = recipe.memory(rank.ranks, rank.micro_batch, rank.tree_levels).arena();
  const std::vector<std::string> phases = phase_names(recipe);
  Text text;
  print(text, "bytes of the arena's {} that are in use in each phase of a step\n", format_number(arena));
  const Usage usage(regions, phases.size(), MemorySpace::device);
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    const std::int64_t bytes = usage.of(phase);
    print(text, "  {:<30}{:>18}  {:#>{}}\n", phases[phase], format_number(bytes), "",
          longest_bar * bytes / std::max<std::int64_t>(arena, 1));
  }
  const std::size_t fullest = usage.fullest_phase();
  print(text, "of these, where it is fullest, in {}\n", phases[fullest]);
  for (int i = 0; i < n_kinds; ++i)
    if (const std::int64_t bytes = usage.of(fullest, static_cast<Kind>(i)); bytes > 0)
      print(text, "  {:<30}{:>18}\n", kind_names[i], format_number(bytes));
  return fmt::to_string(text);
}

}  // namespace monomorph::train
