#include "train/weights/adapter_places.hpp"

#include "train/weights/adapter_names.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace monomorph::train {
namespace {

using TensorsByName = std::map<std::string, CanonicalTensor>;

constexpr std::string_view of_weight = ".weight", of_blocks = "layers.#.";

std::string without_ending(const std::string& name) { return name.substr(0, name.size() - of_weight.size()); }

TensorsByName adapter_tensors(const RecipeProgram& recipe) {
  TensorsByName adapters;
  for (CanonicalTensor& tensor : canonical_tensors(recipe))
    if (is_of_adapter(tensor.name)) adapters.emplace(tensor.name, std::move(tensor));
  return adapters;
}

/// The adapters of the weights that lie in one tensor: one of peft's, of two matrices.
class Joint {
 public:
  Joint(const PlacedTensor& weights, const TensorsByName& adapters, JoinedAdapters joined)
      : a_(matrix_of(weights, 'A')), b_(matrix_of(weights, 'B')), joined_(joined) {
    std::int64_t first_row = 0;
    for (const PlacedPart& part : weights.parts) {
      const auto names = adapter_names(part.name);
      if (names && adapters.contains(names->a)) add(adapters.at(names->a), adapters.at(names->b), first_row);
      first_row += part.shape.rows;
    }
    a_.shape = {rank_, weights.cols};
    b_.shape = {weights.rows, rank_};
  }

  void move_to(std::vector<PlacedAdapter>& placed) && {
    if (a_.blocks.empty()) return;
    placed.push_back(std::move(a_));
    placed.push_back(std::move(b_));
  }

 private:
  static PlacedAdapter matrix_of(const PlacedTensor& weights, char matrix) {
    const std::string module = without_ending(weights.name);
    return {.name = "base_model.model." + module + ".lora_" + matrix + ".weight",
            .module = module,
            .shape = {},
            .transposed = weights.transposed,
            .blocks = {}};
  }
  void add(const CanonicalTensor& a, const CanonicalTensor& b, std::int64_t first_row) {
    const std::int64_t before = joined_ == JoinedAdapters::stacked ? rank_ : 0;
    a_.blocks.push_back({a, before, 0});
    b_.blocks.push_back({b, first_row, before});
    rank_ = before + a.shape.rows;
  }

  PlacedAdapter a_, b_;
  JoinedAdapters joined_;
  std::int64_t rank_ = 0;
};

/// As peft compares the names of modules with its targets.
bool is_target(const std::string& module, const std::string& target) {
  return module == target || module.ends_with("." + target);
}

/// "self_attn.q_proj" of "model.layers.3.self_attn.q_proj", or with the number.
std::string behind_number(const std::string& module, bool with_number) {
  const std::size_t number = pattern_of(module).find('#');
  return module.substr(with_number ? number : module.find('.', number) + 1);
}

}  // namespace

std::vector<PlacedAdapter> placed_adapters(const Family& family, const RecipeProgram& recipe, JoinedAdapters joined) {
  const TensorsByName adapters = adapter_tensors(recipe);
  std::vector<PlacedAdapter> placed;
  for (const PlacedTensor& weights : placed_tensors(family, recipe, /*unused_positions=*/0))
    Joint(weights, adapters, joined).move_to(placed);
  return placed;
}

AdapterRanks ranks_by_target(const Family& family, const std::vector<PlacedAdapter>& adapters) {
  std::set<std::string> of_family, adapted;
  for (const TensorRow& row : family.tensors)
    if (row.ours.starts_with(of_blocks) && row.theirs.ends_with(of_weight))
      of_family.insert(behind_number(without_ending(std::string(row.theirs)), false));
  for (const PlacedAdapter& adapter : adapters) adapted.insert(behind_number(adapter.module, false));
  const auto target_of = [&](const std::string& module) {
    const std::string behind = behind_number(module, false), last = behind.substr(behind.rfind('.') + 1);
    const auto n_called = std::ranges::count_if(of_family, [&](const auto& other) { return is_target(other, last); });
    if (n_called == 1) return last;
    const bool all_are_adapted = std::ranges::all_of(of_family, [&](const auto& other) {
      return !is_target(other, behind) || adapted.contains(other);
    });
    return all_are_adapted ? behind : behind_number(module, true);
  };
  AdapterRanks ranks;
  for (std::size_t i = 0; i < adapters.size(); i += 2)  // A, which B is behind
    ranks[target_of(adapters[i].module)] = adapters[i].shape.rows;
  return ranks;
}

bool is_adaptable(const Family& family, const std::string& name) {
  return std::ranges::any_of(family.tensors, [&](const TensorRow& row) {
    return pattern_of(name) == std::string(family.trunk) + std::string(row.theirs) &&
           adapter_names(std::string(row.ours)).has_value();
  });
}

}  // namespace monomorph::train
