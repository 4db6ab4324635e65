#include "train/weights/adapter_folder.hpp"

#include "core/folder_files.hpp"
#include "core/is_there.hpp"
#include "train/weights/adapter_config.hpp"
#include "train/weights/adapter_places.hpp"
#include "train/weights/file_dtype.hpp"
#include "train/weights/listed.hpp"
#include "train/weights/read_converted.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <span>

namespace monomorph::train {
namespace {

/// "model.layers.#.mlp.experts.#.w1" of "base_model.model.model.layers.0.mlp.experts.1.w1.lora_A.weight".
std::string adapted_module(std::string name) {
  constexpr std::string_view before = "base_model.model.";
  if (name.starts_with(before)) name.erase(0, before.size());
  for (const std::string_view behind : {".base_layer", ".lora_", ".weight"}) name = name.substr(0, name.find(behind));
  return pattern_of_all(name);
}

}  // namespace

bool has_adapters(const std::string& folder) { return is_there(path_in(folder, adapter_config_name)); }

const LowRankSpec& adapters_of(const RecipeProgram& recipe) {
  if (recipe.low_rank == nullptr)
    throw UsageError("ADAPTER-04", fmt::format("{} has no adapters; give it `finetuning::LowRank`, or leave out "
                                               "--adapter",
                                               recipe.name));
  return *recipe.low_rank;
}

AdapterFolder::AdapterFolder(const std::string& folder, const Family& family, const RecipeProgram& recipe)
    : folder_(folder) {
  const std::vector<PlacedAdapter> placed = placed_as_the_config_says(family, recipe);
  file_.emplace(runtime::SafetensorsFile::open(path_in(folder, adapter_weights_name)));
  std::set<std::string> used;
  for (const PlacedAdapter& adapter : placed) {
    const runtime::TensorEntry* const entry = find_entry(adapter.name, family);
    if (entry == nullptr) continue;  // whoever reads says what is missing
    used.insert(entry->name);
    add(adapter, *entry, recipe.name);
  }
  for (const runtime::TensorEntry& entry : file_->tensors())
    if (!used.contains(entry.name)) unused_.push_back(entry.name);
  check_unused(family, recipe.name);
}

std::vector<PlacedAdapter> AdapterFolder::placed_as_the_config_says(const Family& family, const RecipeProgram& recipe) {
  const LowRankSpec& spec = adapters_of(recipe);
  std::vector<PlacedAdapter> placed[]{placed_adapters(family, recipe, JoinedAdapters::shared),
                                      placed_adapters(family, recipe, JoinedAdapters::stacked)};
  const AdapterRanks forms[]{ranks_by_target(family, placed[0]), ranks_by_target(family, placed[1])};
  CheckedAdapterConfig checked = check_adapter_config(path_in(folder_, adapter_config_name), spec, forms, recipe.name);
  notes_ = std::move(checked.notes);
  return std::move(placed[checked.form]);
}

/// Models without a head, or with one, have the trunk by another name.
const runtime::TensorEntry* AdapterFolder::find_entry(const std::string& name, const Family& family) const {
  constexpr std::string_view before = "base_model.model.";
  if (const runtime::TensorEntry* const entry = file_->find(name)) return entry;
  return file_->find(std::string(before) + other_name(family, name.substr(before.size())));
}

void AdapterFolder::add(const PlacedAdapter& adapter, const runtime::TensorEntry& entry, const std::string& recipe) {
  const std::optional<DType> dtype = dtype_of(entry.dtype);
  if (entry.shape.size() != 2 || !dtype)
    throw UsageError("WEIGHTS-07", fmt::format("{} in {} must be a matrix of floating-point numbers; give other "
                                               "adapters",
                                               in_quotes(entry.name), in_quotes(file_->path())));
  const Shape there{entry.shape[0], entry.shape[1]};
  if (adapter.is_whole()) {
    tensors_[adapter.blocks.front().tensor.name] = {&entry, *dtype, there, 0, there.cols};
    return;
  }
  if (there != adapter.shape)
    throw UsageError("WEIGHTS-07",
                     fmt::format("{} in {} is [{}, {}], and must be [{}, {}], as it is for {} and what "
                                 "lies beside it; give other adapters",
                                 in_quotes(entry.name), in_quotes(file_->path()), there.rows, there.cols,
                                 adapter.shape.rows, adapter.shape.cols, adapter.blocks.front().tensor.name));
  for (const auto& [tensor, row, col] : adapter.blocks)
    tensors_[tensor.name] = {&entry, *dtype, tensor.shape, row * there.cols + col, there.cols};
  check_zeros(adapter, entry, recipe);
}

/// Beside the blocks of a matrix.   @throws UsageError [ADAPTER-03]
void AdapterFolder::check_zeros(const PlacedAdapter& adapter, const runtime::TensorEntry& entry,
                                const std::string& recipe) {
  const auto& [rows, cols] = adapter.shape;
  std::vector<double> values(static_cast<std::size_t>(rows * cols));
  const View all(reinterpret_cast<std::byte*>(values.data()), DType::fp64, adapter.shape);
  const DType dtype = *dtype_of(entry.dtype);
  read_converted(dtype, all.reshaped({1, all.elements()}), buffer_,
                 [&](std::int64_t first, std::span<std::byte> bytes) {
                   std::memcpy(bytes.data(), file_->data(entry) + first * size_of(dtype), bytes.size());
                 });
  for (const AdapterBlock& block : adapter.blocks)
    for (std::int64_t row = 0; row < block.tensor.shape.rows; ++row)
      std::fill_n(all.rows(block.first_row + row, 1).columns(block.first_col, 1).as<double>(), block.tensor.shape.cols,
                  0);
  if (std::ranges::all_of(values, [](double value) { return value == 0; })) return;
  std::vector<std::string> names;
  for (const AdapterBlock& block : adapter.blocks) names.push_back(block.tensor.name);
  throw UsageError("ADAPTER-03",
                   fmt::format("{} in {} has numbers beside those of {}, of which {} has no adapter; adapt all weights "
                               "that are one tensor there, with the file's rank and alpha, or give other adapters",
                               in_quotes(entry.name), in_quotes(file_->path()), fmt::join(names, ", "), recipe));
}

/// @throws UsageError [ADAPTER-06]
void AdapterFolder::check_unused(const Family& family, const std::string& recipe) const {
  std::set<std::string> modules;
  for (const std::string& name : unused_) {
    const std::string module = adapted_module(name), weight = module + ".weight";
    if (!is_adaptable(family, weight) && !is_adaptable(family, other_name(family, weight))) modules.insert(module);
  }
  if (modules.empty()) return;
  throw UsageError("ADAPTER-06",
                   fmt::format("the adapters in {} are of {}, too, which {} has no adapters for: recipes have them "
                               "beside matrices of attention and of dense MLPs; merge them by peft's merge_and_unload "
                               "and import the model that is saved then, or give other adapters",
                               in_quotes(folder_), listed_in_quotes({modules.begin(), modules.end()}), recipe));
}

const Shape* AdapterFolder::find(const std::string& name) const {
  const auto found = tensors_.find(name);
  return found == tensors_.end() ? nullptr : &found->second.shape;
}

void AdapterFolder::read(const std::string& name, std::int64_t first, View to) {
  const Tensor& tensor = tensors_.at(name);
  const std::int64_t width = size_of(tensor.dtype), cols = tensor.shape.cols;
  read_converted(tensor.dtype, to, buffer_, [&](std::int64_t done, std::span<std::byte> bytes) {
    for (std::int64_t element = first + done, left = std::ssize(bytes) / width; left > 0;) {
      const std::int64_t row = element / cols, col = element % cols, n = std::min(left, cols - col);
      std::memcpy(&bytes[bytes.size() - static_cast<std::size_t>(left * width)],
                  file_->data(*tensor.entry) + (tensor.first + row * tensor.row_stride + col) * width,
                  static_cast<std::size_t>(n * width));
      element += n;
      left -= n;
    }
    held_.add(bytes.size(), [&] { file_->release(); });
  });
}

WeightsSource& AdaptedWeights::of(const std::string& name) const { return is_of_adapter(name) ? *adapters_ : *base_; }

std::vector<std::string> AdaptedWeights::unused() const {
  std::vector<std::string> names = base_->unused();
  for (std::string& name : adapters_->unused()) names.push_back(std::move(name));
  return names;
}

}  // namespace monomorph::train
