#include "train/weights/folder_weights.hpp"

#include "train/weights/file_dtype.hpp"
#include "train/weights/read_converted.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>

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
    : model_(std::move(model)), tensors_(model_.folder) {
  const Family& family = *model_.family;
  std::set<std::string> used;
  for (const PlacedTensor& placed : placed_tensors(family, recipe)) {
    std::string name = placed.name;
    if (tensors_.find(name) == nullptr && name.starts_with(family.optional_prefix))
      name.erase(0, family.optional_prefix.size());
    const auto* const tensor = tensors_.find(name);
    if (tensor == nullptr) continue;  // whoever reads says what is missing
    used.insert(name);
    add_parts(placed, *tensor);
  }
  for (const auto& [name, tensor] : tensors_.all()) {
    const std::string pattern = pattern_of(name);
    const auto is_buffer = [&](std::string_view buffer) {
      return pattern == buffer || std::string(family.optional_prefix) + pattern == buffer;
    };
    const bool is_tied_head = recipe.model->tied_head && name == "lm_head.weight";  // a second copy of the table
    if (!used.contains(name) && !is_tied_head && std::ranges::none_of(family.buffers, is_buffer))
      unused_.push_back(name);
  }
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
  const std::int64_t row_stride = placed.transposed ? 1 : cols, col_stride = placed.transposed ? rows : 1;
  std::int64_t first_row = 0;
  for (const PlacedPart& part : placed.parts) {
    const std::int64_t part_rows = placed.parts.size() == 1 ? rows
                                   : placed.is_vector       ? part.shape.cols
                                                            : part.shape.rows;
    const Shape of_part = placed.is_vector ? Shape{1, part_rows} : Shape{part_rows, cols};
    add_part(part.name, {tensor, *dtype, of_part, first_row * row_stride, row_stride, col_stride});
    first_row += part_rows;
  }
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

void FolderWeights::read(const std::string& name, std::int64_t first, View to) {
  for (const Part& part : weights_.at(name).parts) {
    const std::int64_t n = std::min(to.elements(), part.shape.elements() - first);
    if (n > 0) {
      const View taken(to.data, to.dtype, {1, n});
      read_converted(part.dtype, taken, buffer_, [&](std::int64_t done, std::span<std::byte> bytes) {
        gather(part, first + done, std::ssize(bytes) / size_of(part.dtype), bytes.data());
      });
      to = View(to.data + n * size_of(to.dtype), to.dtype, {1, to.elements() - n});
      first += n;
    }
    first -= part.shape.elements();
  }
}

}  // namespace monomorph::train
