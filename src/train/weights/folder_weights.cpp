#include "train/weights/folder_weights.hpp"

#include "train/weights/file_dtype.hpp"
#include "train/weights/listed.hpp"
#include "train/weights/read_bits_and_bytes.hpp"
#include "train/weights/read_converted.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/hash.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <ranges>
#include <set>

namespace monomorph::train {
namespace {

template <std::size_t width>
void gather_strided(const std::byte* from, std::int64_t stride, std::int64_t n, std::byte* to) {
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * static_cast<std::int64_t>(width), from + i * stride * static_cast<std::int64_t>(width), width);
}

void gather_elements(const std::byte* from, std::int64_t stride, std::int64_t n, std::int64_t width, std::byte* to) {
  if (stride == 1)
    std::memcpy(to, from, static_cast<std::size_t>(n * width));
  else if (width == 2)
    gather_strided<2>(from, stride, n, to);
  else if (width == 4)
    gather_strided<4>(from, stride, n, to);
  else
    gather_strided<8>(from, stride, n, to);
}

[[noreturn]] void refuse(const FolderTensors::Tensor& tensor, const std::string& requirement) {
  throw UsageError("WEIGHTS-07", fmt::format("{} in {} is {} [{}], and must be {}; give the folder of another model",
                                             in_quotes(tensor.entry->name), in_quotes(tensor.file->path()),
                                             runtime::name_of(tensor.entry->dtype),
                                             fmt::join(tensor.entry->shape, ", "), requirement));
}

}  // namespace

FolderWeights::FolderWeights(FolderModel model, const RecipeProgram& recipe)
    : model_(std::move(model)), tensors_(model_.folder), numbers_(recipe.compute_dtype) {
  const Family& family = *model_.family;
  if (model_.sentence && !model_.sentence->projection.empty())
    of_projection_.emplace(model_.folder, model_.sentence->projection);
  std::set<std::string> used;
  for (const PlacedTensor& placed : placed_tensors(family, recipe, model_.portable.unused_positions)) {
    if (placed.is_projection) {
      add_projection(placed);
      continue;
    }
    const std::optional<std::string> name = name_in_file(placed.name);
    if (!name && placed.parts.empty())
      throw UsageError("WEIGHTS-09",
                       fmt::format("the tensors in {} are not those of {}: {} is missing; give weights of "
                                   "the recipe's model",
                                   in_quotes(model_.folder), recipe.name, placed.name));
    if (!name) continue;  // whoever reads says what is missing
    used.insert(*name);
    const FolderTensors::Tensor& tensor = *tensors_.find(*name);
    if (const auto matrix = bits_and_bytes_matrix(tensors_, *name)) {
      add_nf4(placed, *matrix, tensor);
      for (std::string& beside : names_beside(*name)) used.insert(std::move(beside));
    } else if (placed.parts.empty())
      take_shared_row(tensor, placed.cols);
    else
      add_parts(placed, tensor);
  }
  for (const auto& [name, tensor] : tensors_.all())
    if (!used.contains(name)) sort_out(name, recipe);
}

void FolderWeights::add_projection(const PlacedTensor& placed) {
  if (!of_projection_) return;  // whoever reads says what is missing
  for (const auto& [name, tensor] : of_projection_->all())
    if (name == placed.name)
      add_parts(placed, tensor);
    else
      unused_.push_back(fmt::format("{} in {}", name, model_.sentence->projection));
}

std::optional<std::string> FolderWeights::name_in_file(const std::string& name) const {
  const Family& family = *model_.family;
  std::vector<std::string> names{name};
  for (const auto& [end, older] : family.older_names)
    if (name.ends_with(end)) names.push_back(name.substr(0, name.size() - end.size()) + std::string(older));
  for (const std::string& one : names) {
    for (const std::string& candidate : {one, other_name(family, one)})
      if (tensors_.find(candidate) != nullptr) return candidate;
  }
  return std::nullopt;
}

/// The weight that a tensor is meant to be a second time; empty if it is not.
std::string_view FolderWeights::original_of(const std::string& name, bool tied_head) const {
  if (tied_head && name == "lm_head.weight") return "embedding.weight";
  const auto& copies = model_.family->copies;
  const auto found = std::ranges::find(copies, name, &TensorRow::theirs);
  return found == copies.end() ? "" : found->ours;
}

/// What becomes of a tensor that no weights are read from.
void FolderWeights::sort_out(const std::string& name, const RecipeProgram& recipe) {
  const Family& family = *model_.family;
  const std::string pattern = pattern_of(name);
  const auto is_buffer = [&](std::string_view buffer) {
    return pattern == buffer || std::string(family.optional_prefix) + pattern == buffer;
  };
  const auto is_of_head = [&](std::string_view head) {
    return name.starts_with(head) || name.starts_with(std::string(family.optional_prefix) + std::string(head));
  };
  if (const std::string_view original = original_of(name, recipe.model->tied_head); !original.empty()) {
    copies_.push_back({*tensors_.find(name), std::string(original)});
    return;
  }
  if (std::ranges::any_of(family.buffers, is_buffer)) return;
  (std::ranges::any_of(family.other_heads, is_of_head) ? of_other_heads_ : unused_).push_back(name);
}

std::optional<std::string> FolderWeights::note_of_other_heads() const {
  if (of_other_heads_.empty()) return std::nullopt;
  return fmt::format("of the weights in {}, what the model there makes of hidden states is left out: {}", model_.folder,
                     listed_in_quotes(of_other_heads_));
}

void FolderWeights::take_shared_row(const FolderTensors::Tensor& tensor, std::int64_t width) {
  const std::vector<std::int64_t>& shape = tensor.entry->shape;
  const auto dtype = dtype_of(tensor.entry->dtype);
  if (!dtype) refuse(tensor, "of floating-point numbers");
  if (shape.size() != 2 || shape[0] < 1 || shape[1] != width)
    refuse(tensor, fmt::format("a matrix of {} columns", width));
  std::vector<double> row(static_cast<std::size_t>(width));
  read_converted(*dtype, View(reinterpret_cast<std::byte*>(row.data()), DType::fp64, {1, width}), buffer_,
                 [&](std::int64_t first, std::span<std::byte> bytes) {
                   std::memcpy(bytes.data(), tensor.file->data(*tensor.entry) + first * size_of(*dtype), bytes.size());
                 });
  if (std::ranges::any_of(row, [](double value) { return value != 0; })) shared_row_ = std::move(row);
}

void FolderWeights::add_parts(const PlacedTensor& placed, const FolderTensors::Tensor& tensor) {
  const std::vector<std::int64_t>& shape = tensor.entry->shape;
  const auto dtype = dtype_of(tensor.entry->dtype);
  if (!dtype) refuse(tensor, "of floating-point numbers");
  if ((placed.parts.size() > 1 || placed.is_of_one_expert) && shape != placed.file_shape())
    refuse(tensor, fmt::format("[{}], as it holds {}{}", fmt::join(placed.file_shape(), ", "),
                               placed.is_of_one_expert ? "an expert of " : "",
                               fmt::join(placed.parts | std::views::transform(&PlacedPart::name), ", ")));
  if (shape.size() != (placed.is_vector ? 1 : 2)) refuse(tensor, placed.is_vector ? "a vector" : "a matrix");
  const std::int64_t rows = placed.transposed ? shape[1] : shape[0], cols = placed.is_vector    ? 1
                                                                            : placed.transposed ? shape[0]
                                                                                                : shape[1];
  if (rows < placed.unused_rows)
    refuse(tensor, fmt::format("of {} rows and more, of which that many are no token's", placed.unused_rows));
  const std::int64_t row_stride = placed.transposed ? 1 : cols, col_stride = placed.transposed ? rows : 1;
  std::int64_t first_row = placed.unused_rows;
  for (const PlacedPart& part : placed.parts) {
    const std::int64_t part_rows = placed.parts.size() == 1 ? rows - placed.unused_rows
                                   : placed.is_vector       ? part.shape.cols
                                                            : part.shape.rows;
    const Shape of_part = placed.is_vector ? Shape{1, part_rows} : Shape{part_rows, cols};
    add_part(part.name, {tensor, *dtype, of_part, first_row * row_stride, row_stride, col_stride});
    first_row += part_rows;
  }
}

void FolderWeights::add_nf4(const PlacedTensor& placed, const BitsAndBytesMatrix& matrix,
                            const FolderTensors::Tensor& tensor) {
  if (placed.parts.size() != 1 || placed.transposed || placed.is_vector || placed.is_of_one_expert)
    throw UsageError("WEIGHTS-07", fmt::format("{} in {} is in NF4 and is not one matrix of the recipe: more or less "
                                               "than one lies in it, or its transpose; give the folder of the model "
                                               "before it was quantised, which Nf4Base quantises itself",
                                               in_quotes(tensor.entry->name), in_quotes(tensor.file->path())));
  const std::string& name = placed.parts.front().name;
  weights_[name].shape = matrix.shape;
  in_nf4_.emplace(name, matrix);
}

bool FolderWeights::read_nf4(const std::string& name, const Nf4Matrix& to) {
  const auto found = in_nf4_.find(name);
  if (found == in_nf4_.end()) return false;
  train::read_nf4(found->second, to, scale_changes_);
  note_read(static_cast<std::size_t>(to.codes.bytes()));
  return true;
}

void FolderWeights::dequantize_nf4(const std::string& name, View to) {
  dequantize(in_nf4_.at(name), to);
  note_read(static_cast<std::size_t>(to.elements() / 2));
}

void FolderWeights::note_read(std::size_t bytes) {
  held_.add(bytes, [&] {
    tensors_.release();
    if (of_projection_) of_projection_->release();
  });
}

std::optional<std::int64_t> FolderWeights::rows_said(const std::string& name) const {
  if (is_of_vocabulary(name)) return model_.portable.model.vocab_size;
  if (name == position_table) return model_.portable.model.context_length;
  return std::nullopt;
}

std::uint64_t FolderWeights::identity() const {
  std::uint64_t identity = tensors_.identity();
  if (of_projection_) identity ^= of_projection_->identity();
  for (const auto& [name, value] : facts_of(model_.portable)) identity = fnv1a_64(value, fnv1a_64(name, identity));
  return identity;
}

void FolderWeights::check_copies() {
  for (const SecondCopy& copy : copies_) {
    if (is_copy(copy, *this)) continue;
    throw UsageError(
        "WEIGHTS-15",
        fmt::format("{} in {} is not the copy of {} that a tied model has; {}", in_quotes(copy.tensor.entry->name),
                    in_quotes(copy.tensor.file->path()), copy.original,
                    model_.portable.has_masked_head
                        ? "remove the tensor there, or give another model"
                        : "give the recipe a head of its own (tied_head = false) and set tie_word_embeddings to false "
                          "in config.json, or remove the tensor there"));
  }
}

std::string FolderWeights::note_of_reading() const {
  if (scale_changes_.none()) return "";
  return fmt::format(
      "the scales of matrices in NF4 are in fp32 in {}, and are quantised here, to 8 bits: they change by "
      "{:.2g} % of their norm, and none by more than {:.2g} % of itself",
      model_.folder, 100 * scale_changes_.of_norm(), 100 * scale_changes_.greatest());
}

void FolderWeights::add_part(const std::string& name, const Part& part) {
  Weight& weight = weights_[name];
  const std::int64_t rows_before = weight.parts.empty() ? 0 : weight.shape.rows;
  weight.shape = {rows_before + part.shape.rows, part.shape.cols};
  weight.parts.push_back(part);
}

const Shape* FolderWeights::find(const std::string& name) const {
  const auto found = weights_.find(name);
  return found == weights_.end() ? nullptr : &found->second.shape;
}

void FolderWeights::gather(const Part& part, std::int64_t first, std::int64_t n, std::byte* to) const {
  const std::int64_t width = size_of(part.dtype), cols = part.shape.cols;
  const std::byte* const data = part.in.file->data(*part.in.entry);
  while (n > 0) {
    const std::int64_t row = first / cols, col = first % cols, length = std::min(n, cols - col);
    gather_elements(data + (part.base + row * part.row_stride + col * part.col_stride) * width, part.col_stride, length,
                    width, to);
    first += length;
    n -= length;
    to += length * width;
  }
}

/// In fp64, and rounded once.
void FolderWeights::add_shared_row(std::int64_t first, View to) {
  const auto width = std::ssize(shared_row_);
  std::vector<double> sums(static_cast<std::size_t>(to.elements()));
  const View all(reinterpret_cast<std::byte*>(sums.data()), DType::fp64, {1, to.elements()});
  cpu::copy(cpu::Queue{}, to, all);
  for (std::int64_t i = 0; i < to.elements(); ++i)
    sums[static_cast<std::size_t>(i)] += shared_row_[static_cast<std::size_t>((first + i) % width)];
  cpu::copy(cpu::Queue{}, all, to);
}

void FolderWeights::read(const std::string& name, std::int64_t first, View to) {
  if (in_nf4_.contains(name)) return numbers_.read(*this, name, first, to);
  read_parts(name, first, to);
  if (!shared_row_.empty() && name == model_.family->shared_row.ours) add_shared_row(first, to);
}

void FolderWeights::read_parts(const std::string& name, std::int64_t first, View to) {
  for (const Part& part : weights_.at(name).parts) {
    const std::int64_t n = std::min(to.elements(), part.shape.elements() - first);
    if (n > 0) {
      const View taken(to.data, to.dtype, {1, n});
      read_converted(part.dtype, taken, buffer_, [&](std::int64_t done, std::span<std::byte> bytes) {
        gather(part, first + done, std::ssize(bytes) / size_of(part.dtype), bytes.data());
        note_read(bytes.size());
      });
      to = View(to.data + n * size_of(to.dtype), to.dtype, {1, to.elements() - n});
      first += n;
    }
    first -= part.shape.elements();
  }
}

}  // namespace monomorph::train
