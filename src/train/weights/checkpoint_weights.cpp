#include "train/weights/checkpoint_weights.hpp"

#include "train/weights/averaged_name.hpp"
#include "train/weights/file_dtype.hpp"
#include "train/weights/read_converted.hpp"
#include "train/weights/tensor_places.hpp"

#include <monomorph/block/scaled_products.hpp>
#include <monomorph/core/error.hpp>
#include <monomorph/core/file_error.hpp>
#include <monomorph/core/xxh64.hpp>
#include <monomorph/train/step/quantized_matrix.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <span>

namespace monomorph::train {
namespace {

/// What a recipe of another precision keeps of its own arithmetic is missed by nobody.
bool is_record(std::string_view name) { return name.ends_with(amax_history_name); }

/// The matrix of which this is a part in NF4; empty if it is none.
std::string name_of_quantized(std::string_view part) {
  for (const std::string_view suffix : {codes_suffix, absmax_suffix, nested_absmax_suffix, offset_suffix})
    if (part.ends_with(suffix)) return std::string(part.substr(0, part.size() - suffix.size()));
  return "";
}

/// Calls f with the name and the memory of each part.
void for_each_part(const std::string& matrix, const Nf4Matrix& parts, auto&& f) {
  f(matrix + std::string(codes_suffix), parts.codes);
  f(matrix + std::string(absmax_suffix), parts.absmax);
  f(matrix + std::string(nested_absmax_suffix), parts.nested_absmax);
  f(matrix + std::string(offset_suffix), parts.offset);
}

/// Parameters are in master precision and named plainly; the optimiser's state has the buffer's name before theirs.
bool is_parameter(const std::string& name, const std::set<std::string>& plain_beginnings) {
  return plain_beginnings.contains(name.substr(0, name.find('.')));
}

}  // namespace

CheckpointWeights::CheckpointWeights(const std::string& path, const RecipeProgram& recipe)
    : reader_(path), numbers_(recipe.compute_dtype) {
  std::set<std::string> names, beginnings;
  for (const CanonicalTensor& tensor : canonical_tensors(recipe)) {
    names.insert(tensor.name);
    beginnings.insert(tensor.name.substr(0, tensor.name.find('.')));
  }
  for (const std::string& name : reader_.names()) {
    if (names.contains(name)) {
      const auto& saved = found(name);
      if (!dtype_of(saved.dtype))
        throw UsageError("WEIGHTS-07", fmt::format("{} in {} is not of floating-point numbers; give another checkpoint",
                                                   in_quotes(name), in_quotes(path)));
      const Dims dims = dims_of(saved.shape);
      shapes_[name] =
          dims.size() == 1 ? Shape{1, dims[0]} : Shape{dims[0], saved.n_elements / std::max<std::int64_t>(dims[0], 1)};
    } else if (const std::string matrix = name_of_quantized(name); names.contains(matrix)) {
      if (name.ends_with(codes_suffix)) add_nf4(matrix, name);
    } else if (is_parameter(name, beginnings) && !is_record(name)) {
      unused_.push_back(name);
    }
  }
}

void CheckpointWeights::add_nf4(const std::string& name, const std::string& codes) {
  const auto& saved = *reader_.find(codes);
  const Nf4Buffer expected(2 * saved.n_elements);
  for_each_part(name, expected.matrix(), [&](const std::string& part, View view) {
    const auto* const there = reader_.find(part);
    if (there == nullptr || there->dtype != file_dtype(view.dtype) || there->n_elements != view.elements())
      throw UsageError("WEIGHTS-07", fmt::format("{} in {} is not there as NF4 has it; give another checkpoint",
                                                 in_quotes(part), in_quotes(reader_.path())));
  });
  const Dims dims = dims_of(saved.shape);
  const std::int64_t rows = dims.size() == 1 ? 1 : dims[0];
  shapes_[name] = {rows, 2 * saved.n_elements / std::max<std::int64_t>(rows, 1)};
  in_nf4_.insert(name);
}

bool CheckpointWeights::read_nf4(const std::string& name, const Nf4Matrix& to) {
  if (!in_nf4_.contains(name)) return false;
  for_each_part(name, to, [&](const std::string& part, View view) {
    reader_.read(part, 0, {view.data, static_cast<std::size_t>(view.bytes())});
    note_read(static_cast<std::size_t>(view.bytes()));
  });
  return true;
}

const Shape* CheckpointWeights::find(const std::string& name) const {
  const auto found = shapes_.find(name);
  return found == shapes_.end() ? nullptr : &found->second;
}

void CheckpointWeights::note_read(std::size_t bytes) {
  held_.add(bytes, [&] { reader_.release(); });
}

std::optional<std::int64_t> CheckpointWeights::rows_said(const std::string& name) const {
  if (!is_of_vocabulary(name) && name != position_table) return std::nullopt;
  const auto& facts = reader_.metadata().recipe_facts;
  const auto said = facts.find(is_of_vocabulary(name) ? "model.vocab_size" : "model.context_length");
  if (said == facts.end()) return std::nullopt;
  std::int64_t rows = 0;
  std::from_chars(said->second.data(), said->second.data() + said->second.size(), rows);
  return rows;
}

std::uint64_t CheckpointWeights::identity() const {
  Xxh64 hash;
  for (const runtime::CheckpointFile& file : reader_.metadata().files)
    hash.update(std::as_bytes(std::span(file.checksums)));
  return hash.digest();
}

const runtime::CheckpointReader::Tensor& CheckpointWeights::found(const std::string& name) const {
  return *reader_.find(name_for_use(reader_, name));
}

void CheckpointWeights::read_region(const std::string& name, const Region& region, std::int64_t first, View to) {
  const DType dtype = *dtype_of(found(name).dtype);
  read_converted(dtype, to, buffer_, [&](std::int64_t done, std::span<std::byte> bytes) {
    reader_.read(name_for_use(reader_, name), region, first + done, bytes);
    note_read(bytes.size());
  });
}

void CheckpointWeights::read(const std::string& name, std::int64_t first, View to) {
  if (in_nf4_.contains(name)) return numbers_.read(*this, name, first, to);
  read_region(name, Region::whole(dims_of(found(name).shape)), first, to);
}

void CheckpointWeights::read_columns(const std::string& name, std::int64_t first, View to) {
  if (in_nf4_.contains(name))
    return cpu::copy(cpu::Queue{}, numbers_.of(*this, name).columns(first, to.shape.cols), to);
  read_region(name, {{0, first}, {to.shape.rows, to.shape.cols}}, 0, to);
}

}  // namespace monomorph::train
