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

/// The regions of a model in its arenas: the recipe's own, or those of the teacher that it learns from.
struct PlacedModel {
  RecipeProgram recipe;
  std::vector<MemoryRegion> regions;
  bool is_teacher = false;

  PlacedModel(RecipeProgram model, const PlannedRank& rank, bool teaches = false)
      : recipe(std::move(model)),
        regions(recipe.memory_regions(rank.ranks, rank.micro_batch, rank.tree_levels)),
        is_teacher(teaches) {}
};
std::vector<PlacedModel> placed_models(const RecipeProgram& recipe, const PlannedRank& rank) {
  std::vector<PlacedModel> models;
  models.emplace_back(recipe, rank);
  if (recipe.teacher != nullptr) models.emplace_back(recipe.teacher(), rank, true);
  return models;
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
enum class Kind { parameters, gradients, optimizer, activations, statistics, tables, teacher };
constexpr std::string_view kind_names[] = {"parameters", "gradients",          "optimizer", "activations",
                                           "statistics", "tables and numbers", "teacher"};
constexpr int n_kinds = static_cast<int>(std::size(kind_names));

Kind kind_of(const PlacedModel& model, const MemoryRegion& region) {
  if (model.is_teacher) return Kind::teacher;
  const auto speaks_of = [&](std::string_view word) { return region.what.find(word) != std::string_view::npos; };
  const bool on_host = region.arena == MemorySpace::host;
  if (speaks_of("optimizer") || (on_host && speaks_of("master"))) return Kind::optimizer;
  if (speaks_of("parameters") || speaks_of("master")) return Kind::parameters;
  if (speaks_of("gradient") && !speaks_of("residual")) return Kind::gradients;
  if (speaks_of("statistics")) return Kind::statistics;
  if (speaks_of("numbers") || speaks_of("rotary")) return Kind::tables;
  return Kind::activations;
}
/// Those that a model's regions may have.
std::vector<Kind> kinds_of(const PlacedModel& model) {
  using enum Kind;
  if (model.is_teacher) return {teacher};
  return {parameters, gradients, optimizer, activations, statistics, tables};
}
std::string_view name_of(Kind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::int64_t planned_bytes(const plan::Memory& memory, MemorySpace arena, Kind kind) {
  if (arena == MemorySpace::host)
    return kind == Kind::parameters    ? memory.host_params
           : kind == Kind::optimizer   ? memory.host_optimizer
           : kind == Kind::activations ? memory.host_activations
           : kind == Kind::teacher     ? memory.host_teacher
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
    case Kind::teacher:
      return memory.teacher;
  }
  __builtin_unreachable();
}

std::string_view arena_name(const PlacedModel& model, MemorySpace arena) {
  const bool on_host = arena == MemorySpace::host;
  if (model.is_teacher) return on_host ? "teacher_host" : "teacher";
  return on_host ? "host" : "device";
}

/// By phase and kind, of one arena: the bytes that are in use.
class Usage {
 public:
  Usage(const PlacedModel& model, std::size_t phases, MemorySpace arena) : bytes_(phases) {
    for (const MemoryRegion& region : model.regions)
      if (region.arena == arena)
        for (int phase = region.phases.first; phase <= region.phases.last; ++phase)
          bytes_[static_cast<std::size_t>(phase)][static_cast<std::size_t>(kind_of(model, region))] += region.bytes;
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

void add_region_records(Json& records, const PlacedModel& model) {
  const bool whole_units = stores_units_whole(model.recipe);
  for (const MemoryRegion& region : model.regions) {
    records.push_back({{"name", name_of(model.recipe, region)},
                       {"kind", name_of(kind_of(model, region))},
                       {"arena", arena_name(model, region.arena)},
                       {"offset", region.offset},
                       {"bytes", region.bytes},
                       {"first_phase", region.phases.first},
                       {"last_phase", region.phases.last}});
    if (!whole_units) continue;
    if (Json tensors = tensors_in(model.recipe, region); !tensors.empty())
      records.back()["tensors"] = std::move(tensors);
  }
}

void add_kind_records(Json& records, const PlacedModel& model, const plan::Memory& memory, std::size_t phases) {
  for (const MemorySpace arena : {MemorySpace::device, MemorySpace::host}) {
    const Usage usage(model, phases, arena);
    for (const Kind kind : kinds_of(model))
      if (const std::int64_t planned = planned_bytes(memory, arena, kind); planned > 0)
        records.push_back({{"kind", name_of(kind)},
                           {"arena", arena_name(model, arena)},
                           {"planned_bytes", planned},
                           {"peak_bytes", usage.peak(kind)}});
  }
}

constexpr int phase_us = 1000;  ///< in trace events

/// The number by which viewers tell arenas apart.
int process_of(const PlacedModel& model, MemorySpace arena) {
  return (model.is_teacher ? 2 : 0) + (arena == MemorySpace::host ? 1 : 0);
}

/// Of each arena its name, and counters of the bytes in use by kind.
void add_counters(Json& events, const PlacedModel& model, std::size_t phases) {
  for (const MemorySpace arena : {MemorySpace::device, MemorySpace::host}) {
    events.push_back({{"name", "process_name"},
                      {"ph", "M"},
                      {"pid", process_of(model, arena)},
                      {"args", {{"name", fmt::format("{} arena", arena_name(model, arena))}}}});
    const Usage usage(model, phases, arena);
    for (std::size_t phase = 0; phase <= phases; ++phase) {
      Json bytes;
      for (const Kind kind : kinds_of(model))
        bytes[std::string(name_of(kind))] = phase < phases ? usage.of(phase, kind) : 0;
      events.push_back({{"name", "bytes in use"},
                        {"ph", "C"},
                        {"pid", process_of(model, arena)},
                        {"ts", static_cast<int>(phase) * phase_us},
                        {"args", std::move(bytes)}});
    }
  }
}

/// Each region from its first to its last phase.   @param first_id of the first one
void add_spans(Json& events, const PlacedModel& model, std::size_t first_id) {
  for (std::size_t i = 0; i < model.regions.size(); ++i) {
    const MemoryRegion& region = model.regions[i];
    const auto end = [&](const char* ph, int ts) {
      events.push_back({{"name", name_of(model.recipe, region)},
                        {"cat", name_of(kind_of(model, region))},
                        {"ph", ph},
                        {"id", first_id + i},
                        {"pid", process_of(model, region.arena)},
                        {"tid", 0},
                        {"ts", ts},
                        {"args", {{"offset", region.offset}, {"bytes", region.bytes}}}});
    };
    end("b", region.phases.first * phase_us);
    end("e", (region.phases.last + 1) * phase_us);
  }
}

/// For viewers of Chrome's trace events: a millisecond stands for a phase. Counters of the bytes in use by kind, the
/// phases in a row, and each region from its first to its last phase.
Json trace_events(const std::vector<PlacedModel>& models, const std::vector<std::string>& phases) {
  Json events = Json::array();
  for (const PlacedModel& model : models) add_counters(events, model, phases.size());
  for (std::size_t phase = 0; phase < phases.size(); ++phase)
    events.push_back({{"name", phases[phase]},
                      {"ph", "X"},
                      {"pid", 0},
                      {"tid", 0},
                      {"ts", static_cast<int>(phase) * phase_us},
                      {"dur", phase_us}});
  std::size_t n = 0;
  for (const PlacedModel& model : models) {
    add_spans(events, model, n);
    n += model.regions.size();
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
  const std::vector<PlacedModel> models = placed_models(recipe, rank);
  const std::vector<std::string> phases = phase_names(recipe);
  Json kinds = Json::array(), regions = Json::array();
  for (const PlacedModel& model : models) {
    add_kind_records(kinds, model, memory, phases.size());
    add_region_records(regions, model);
  }
  Json snapshot{{"recipe", recipe.name},
                {"ranks", rank.ranks},
                {"micro_batch", rank.micro_batch},
                {"device_arena_bytes", memory.arena()},
                {"host_arena_bytes", memory.host()}};
  if (recipe.teacher != nullptr)
    snapshot.update({{"teacher_arena_bytes", memory.teacher}, {"teacher_host_arena_bytes", memory.host_teacher}});
  snapshot.update({{"phases", phases},
                   {"kinds", std::move(kinds)},
                   {"regions", std::move(regions)},
                   {"traceEvents", trace_events(models, phases)}});
  return snapshot.dump(1) + "\n";
}

std::string memory_by_phase(const RecipeProgram& recipe, const PlannedRank& rank) {
  constexpr std::int64_t longest_bar = 40;
  const PlacedModel model(recipe, rank);
  const plan::Memory memory = recipe.memory(rank.ranks, rank.micro_batch, rank.tree_levels);
  const std::int64_t arena = memory.arena();
  const std::vector<std::string> phases = phase_names(recipe);
  Text text;
  print(text, "bytes of the arena's {} that are in use in each phase of a step\n", format_number(arena));
  const Usage usage(model, phases.size(), MemorySpace::device);
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    const std::int64_t bytes = usage.of(phase);
    print(text, "  {:<30}{:>18}  {:#>{}}\n", phases[phase], format_number(bytes), "",
          longest_bar * bytes / std::max<std::int64_t>(arena, 1));
  }
  const std::size_t fullest = usage.fullest_phase();
  print(text, "of these, where it is fullest, in {}\n", phases[fullest]);
  for (const Kind kind : kinds_of(model))
    if (const std::int64_t bytes = usage.of(fullest, kind); bytes > 0)
      print(text, "  {:<30}{:>18}\n", name_of(kind), format_number(bytes));
  if (memory.teacher > 0)
    print(text, "beside it\n  {:<30}{:>18}\n", "the teacher's arena", format_number(memory.teacher));
  return fmt::to_string(text);
}

}  // namespace monomorph::train
