#include "train/describe/memory_snapshot.hpp"

#include "train/describe/fact_text.hpp"

#include <monomorph/core/quantity_text.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

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
  Json regions = Json::array();
  for (const MemoryRegion& region : regions_of(recipe, rank))
    regions.push_back({{"name", name_of(recipe, region)},
                       {"arena", region.arena == MemorySpace::host ? "host" : "device"},
                       {"offset", region.offset},
                       {"bytes", region.bytes},
                       {"first_phase", region.phases.first},
                       {"last_phase", region.phases.last}});
  const Json snapshot{{"recipe", recipe.name},
                      {"ranks", rank.ranks},
                      {"micro_batch", rank.micro_batch},
                      {"device_arena_bytes", memory.arena()},
                      {"host_arena_bytes", memory.host()},
                      {"phases", phase_names(recipe)},
                      {"regions", std::move(regions)}};
  return snapshot.dump(1) + "\n";
}

std::string memory_by_phase(const RecipeProgram& recipe, const PlannedRank& rank) {
  constexpr std::int64_t longest_bar = 40;
  const std::vector<MemoryRegion> regions = regions_of(recipe, rank);
  const std::int64_t arena = recipe.memory(rank.ranks, rank.micro_batch, rank.tree_levels).arena();
  const std::vector<std::string> phases = phase_names(recipe);
  Text text;
  print(text, "bytes of the arena's {} that are in use in each phase of a step\n", format_number(arena));
  for (std::size_t phase = 0; phase < phases.size(); ++phase) {
    std::int64_t bytes = 0;
    for (const MemoryRegion& region : regions)
      if (region.arena == MemorySpace::device && region.phases.first <= static_cast<int>(phase) &&
          static_cast<int>(phase) <= region.phases.last)
        bytes += region.bytes;
    print(text, "  {:<30}{:>18}  {:#>{}}\n", phases[phase], format_number(bytes), "",
          longest_bar * bytes / std::max<std::int64_t>(arena, 1));
  }
  return fmt::to_string(text);
}

}  // namespace monomorph::train
