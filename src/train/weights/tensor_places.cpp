#include "train/weights/tensor_places.hpp"

#include "train/step/tensor_name.hpp"
#include "train/weights/sentence_modules.hpp"

#include <monomorph/core/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace monomorph::train {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// The name with a number in the place of a sign.
std::string numbered(std::string_view pattern, char sign, int number) {
  std::string name(pattern);
  if (const std::size_t at = name.find(sign); at != std::string::npos) name.replace(at, 1, fmt::format("{}", number));
  return name;
}
std::vector<CanonicalTensor> tensors_of(const RecipeProgram& recipe, bool parameters) {
  std::vector<CanonicalTensor> tensors;
  for (int unit = 0; unit < recipe.n_units; ++unit) {
    for (const TensorInfo& tensor : recipe.unit_layout(unit))
      if (tensor.is_parameter == parameters)
        tensors.push_back({tensor_name(tensor.name, recipe.block_of_unit(unit)), tensor.slice.shape, tensor.matrices,
                           recipe.quantizes_tensor != nullptr && recipe.quantizes_tensor(unit, tensor)});
  }
  return tensors;
}

constexpr char of_block = '#', of_expert = '@';

void add_part(const std::string& name, bool transposed, PlacedPart part, std::vector<PlacedTensor>& placed) {
  if (placed.empty() || placed.back().name != name)
    placed.push_back({.name = name, .transposed = transposed, .parts = {}});
  PlacedTensor& place = placed.back();
  place.is_vector = part.shape.rows == 1;
  place.rows += place.is_vector ? part.shape.cols : part.shape.rows;
  place.cols = place.is_vector ? 1 : part.shape.cols;
  place.parts.push_back(std::move(part));
}

void add_unused_rows(PlacedTensor& placed, std::int64_t rows) {
  placed.unused_rows = rows;
  placed.rows += rows;
}

/// What an encoder's tokens are projected with once they are pooled.
void place_projection(std::vector<CanonicalTensor>& left, std::vector<PlacedTensor>& placed) {
  const auto found = std::ranges::find(left, projection_weight, &CanonicalTensor::name);
  if (found == left.end()) return;
  placed.push_back({.name = std::string(projection_tensor),
                    .rows = found->shape.rows,
                    .cols = found->shape.cols,
                    .parts = {{found->name, found->shape}},
                    .is_projection = true});
  left.erase(found);
}

/// @param block of theirs   @param trunk what stands before the name
void add(const TensorRow& row, const CanonicalTensor& tensor, int block, std::string_view trunk,
         std::vector<PlacedTensor>& placed) {
  const std::string name = std::string(trunk) + numbered(row.theirs, of_block, block);
  if (name.find(of_expert) == std::string::npos)
    return add_part(name, row.transposed, {tensor.name, tensor.shape}, placed);
  const std::int64_t rows = tensor.shape.rows / tensor.matrices;
  for (int expert = 0; expert < tensor.matrices; ++expert) {
    add_part(numbered(name, of_expert, expert), row.transposed, {tensor.name, {rows, tensor.shape.cols}, expert * rows},
             placed);
    placed.back().is_of_one_expert = true;
  }
}

}  // namespace

std::vector<CanonicalTensor> canonical_tensors(const RecipeProgram& recipe) { return tensors_of(recipe, true); }
std::vector<CanonicalTensor> record_tensors(const RecipeProgram& recipe) { return tensors_of(recipe, false); }

std::vector<CanonicalTensor> base_tensors(const RecipeProgram& recipe) {
  std::vector<CanonicalTensor> tensors = canonical_tensors(recipe);
  std::erase_if(tensors, [](const CanonicalTensor& tensor) { return is_of_adapter(tensor.name); });
  return tensors;
}

std::vector<std::int64_t> PlacedTensor::file_shape() const {
  if (is_vector) return {rows};
  return transposed ? std::vector{cols, rows} : std::vector{rows, cols};
}

std::vector<PlacedTensor> placed_tensors(const Family& family, const RecipeProgram& recipe,
                                         std::int64_t unused_positions) {
  std::vector<CanonicalTensor> left = base_tensors(recipe);
  std::vector<PlacedTensor> placed;
  // Row by row, so that the parts of a tensor come in the order of the rows.
  const auto place = [&](const TensorRow& row, int block, std::string_view trunk) {
    const auto found = std::ranges::find(left, numbered(row.ours, of_block, block), &CanonicalTensor::name);
    if (found == left.end()) return;  // what an option leaves out
    add(row, *found, block < 0 ? recipe.n_blocks - 1 : block - row.blocks_before, trunk, placed);
    if (row.ours == position_table) add_unused_rows(placed.back(), unused_positions);
    left.erase(found);
  };
  for (int block = -1; block < recipe.n_blocks; ++block)
    for (const TensorRow& row : family.tensors)
      if ((row.ours.find(of_block) == std::string_view::npos) == (block < 0)) place(row, block, family.trunk);
  for (const TensorRow& row : family.head) place(row, -1, "");
  if (family.base.output == ModelOutput::embeddings) place_projection(left, placed);
  if (!left.empty())
    throw UsageError("WEIGHTS-01",
                     fmt::format("{} models of Hugging Face have no tensor for {} of {}; change the recipe",
                                 family.model_type, left.front().name, recipe.name));
  if (!family.shared_row.theirs.empty())
    placed.push_back({.name = std::string(family.trunk) + std::string(family.shared_row.theirs),
                      .rows = family.shared_row.rows,
                      .cols = recipe.model->d_model,
                      .parts = {}});
  return placed;
}

std::string pattern_of(const std::string& name) {
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    if (is_number(std::string_view(name).substr(begin, end - begin)))
      return std::string(name).replace(begin, end - begin, "#");
    begin = end + 1;
  }
  return name;
}

std::string pattern_of_all(std::string_view name) {
  std::string pattern;
  for (std::size_t begin = 0; begin <= name.size();) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (begin > 0) pattern += '.';
    pattern += is_number(part) ? "#" : part;
    begin = end + 1;
  }
  return pattern;
}

}  // namespace monomorph::train
