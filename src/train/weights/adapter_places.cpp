#include "train/weights/adapter_places.hpp"

#include "train/weights/adapter_names.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace monomorph::train {
namespace {

constexpr std::string_view of_weight = ".weight";

std::string without_ending(std::string name) { return name.substr(0, name.size() - of_weight.size()); }

/// "self_attn.q_proj" of "model.layers.#.self_attn.q_proj.weight": what stands behind the block's number.
std::string module_of(const TensorRow& row) {
  const std::string name = without_ending(std::string(row.theirs));
  return name.substr(name.find('#') + 2);
}

std::string last_part(const std::string& module) { return module.substr(module.rfind('.') + 1); }

const TensorRow* row_of(const Family& family, std::string_view weight) {
  const auto found = std::ranges::find_if(family.tensors, [&](const TensorRow& row) {
    return row.ours.starts_with("layers.#.") && row.ours.ends_with(weight);
  });
  return found == family.tensors.end() ? nullptr : &*found;
}

/// The family's place of an adapted weight.   @throws UsageError [ADAPTER-03]
const TensorRow& place_of(const Family& family, std::string_view weight, const RecipeProgram& recipe) {
  const TensorRow* const row = row_of(family, weight);
  const bool is_alone = row != nullptr && std::ranges::count(family.tensors, row->theirs, &TensorRow::theirs) == 1;
  if (!is_alone)
    throw UsageError("ADAPTER-03",
                     fmt::format("models of the family {} have {} in one tensor with others, so peft can't adapt it "
                                 "alone as {} does; export the merged weights, or change the targets",
                                 family.model_type, weight, recipe.name));
  return *row;
}

void add(const TensorRow& row, std::string_view trunk, const std::string& name, char matrix,
         const CanonicalTensor& tensor, std::vector<PlacedAdapter>& placed) {
  const std::size_t number = name.find('.') + 1;  // of the block, behind "layers."
  std::string theirs = without_ending(std::string(row.theirs));
  theirs.replace(theirs.find('#'), 1, name.substr(number, name.find('.', number) - number));
  placed.push_back(
      {tensor, module_of(row), fmt::format("base_model.model.{}{}.lora_{}.weight", trunk, theirs, matrix)});
}

}  // namespace

std::vector<PlacedAdapter> placed_adapters(const Family& family, const RecipeProgram& recipe) {
  std::vector<PlacedAdapter> placed;
  for (const CanonicalTensor& tensor : canonical_tensors(recipe))
    for (const LowRankNames& names : low_rank_names) {
      const bool is_a = tensor.name.ends_with(names.a);
      if (is_a || tensor.name.ends_with(names.b))
        add(place_of(family, names.weight, recipe), family.trunk, tensor.name, is_a ? 'A' : 'B', tensor, placed);
    }
  return placed;
}

std::vector<std::string> target_modules(const Family& family, const std::vector<PlacedAdapter>& adapters) {
  std::set<std::string> of_family;
  for (const TensorRow& row : family.tensors)
    if (row.ours.starts_with("layers.#.") && row.theirs.ends_with(of_weight)) of_family.insert(module_of(row));
  std::set<std::string> targets;
  for (const PlacedAdapter& adapter : adapters) {
    const auto is_called_so = [&](const std::string& other) { return last_part(other) == last_part(adapter.module); };
    targets.insert(std::ranges::count_if(of_family, is_called_so) == 1 ? last_part(adapter.module) : adapter.module);
  }
  return {targets.begin(), targets.end()};
}

bool are_transposed(const Family& family, const std::vector<PlacedAdapter>& adapters) {
  return std::ranges::any_of(family.tensors, [&](const TensorRow& row) {
    return row.transposed && row.ours.starts_with("layers.#.") &&
           std::ranges::find(adapters, module_of(row), &PlacedAdapter::module) != adapters.end();
  });
}

}  // namespace monomorph::train
