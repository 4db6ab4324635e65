#include <monomorph/train/step/quantized_matrix.hpp>

#include "train/step/tensor_name.hpp"

#include <monomorph/train/step/host_pieces.hpp>
#include <monomorph/train/step/unit_state.hpp>

#include <algorithm>
#include <array>
#include <cstring>

namespace monomorph::train {
namespace {

/// What a rank holds of a part, whose place in its unit is in bytes.
StateTensor held_part(std::string name, DType dtype, Shape shape, Slice place, View held, std::int64_t first) {
  const std::int64_t begin = std::max(place.offset, first),
                     end = std::min(place.offset + place.shape.elements(), first + held.bytes());
  const std::int64_t width = size_of(dtype), n = std::max(end - begin, std::int64_t{0}) / width;
  StateTensor part{.name = std::move(name), .view = {}, .shape = shape, .first = (begin - place.offset) / width};
  if (n > 0) part.view = {held.data + begin - first, dtype, n == shape.elements() ? shape : Shape{1, n}};
  return part;
}

void put_part(View whole, const StateTensor& to, HostPieces& pieces) {
  if (!to.view.present()) return;
  const std::int64_t width = size_of(whole.dtype);
  pieces.write(to.view, [&](const HostPieces::Piece& piece) {
    std::memcpy(piece.view.data, whole.data + (to.first + piece.first) * width,
                static_cast<std::size_t>(piece.view.bytes()));
  });
}

}  // namespace

QuantizedMatrix quantized_matrix(const TensorInfo& info, DType dtype, const Nf4Places& places, int unit, int block,
                                 View held, std::int64_t first) {
  const std::string name = tensor_name(info.name, block);
  const auto part = [&](std::string_view suffix, DType of_part, Shape shape, Slice place) {
    return held_part(name + std::string(suffix), of_part, shape, place, held, first);
  };
  const auto numbers = [](Slice place) { return Shape{1, place.shape.elements() / size_of(DType::fp32)}; };
  const Shape shape = info.slice.shape;
  return {.name = name,
          .info = info,
          .dtype = dtype,
          .unit = static_cast<std::uint32_t>(unit),
          .codes = part(codes_suffix, DType::u8, {shape.rows, shape.cols / 2}, places.codes),
          .absmax = part(absmax_suffix, DType::u8, places.absmax.shape, places.absmax),
          .nested_absmax = part(nested_absmax_suffix, DType::fp32, numbers(places.nested_absmax), places.nested_absmax),
          .offset = part(offset_suffix, DType::fp32, numbers(places.offset), places.offset)};
}

std::vector<StateTensor> held_parts(const QuantizedMatrix& matrix) {
  std::vector<StateTensor> parts;
  for (const StateTensor& part : {matrix.codes, matrix.absmax, matrix.nested_absmax, matrix.offset})
    if (part.view.present()) parts.push_back(part);
  return parts;
}

Nf4Buffer::Nf4Buffer(std::int64_t elements) {
  Layout layout;
  const Nf4Places places(layout, elements);
  bytes_.resize(static_cast<std::size_t>(layout.elements));
  matrix_ = Nf4Matrix(View(bytes_.data(), DType::u8, {1, layout.elements}), places);
}

void put(const Nf4Matrix& whole, const QuantizedMatrix& to, HostAccess& there) {
  HostPieces pieces(there);
  put_part(whole.codes, to.codes, pieces);
  put_part(whole.absmax, to.absmax, pieces);
  put_part(whole.nested_absmax, to.nested_absmax, pieces);
  put_part(whole.offset, to.offset, pieces);
}

void initialize(const QuantizedMatrix& matrix, std::uint64_t seed, HostAccess& there) {
  const Shape shape = matrix.info.slice.shape;
  std::vector<std::byte> values(static_cast<std::size_t>(shape.elements() * size_of(matrix.dtype)));
  UnitState unit;
  unit.master = {values.data(), matrix.dtype, {1, shape.elements()}};
  unit.unit = matrix.unit;
  unit.tensors.push_back({.name = matrix.name,
                          .info = matrix.info,
                          .index = static_cast<std::uint32_t>(matrix.info.index),
                          .shape = shape,
                          .region = Region::whole(dims_of(shape)),
                          .slice = {0, shape},
                          .first = 0});
  initialize(cpu::Queue{}, unit, seed);
  const Nf4Buffer quantized(shape.elements());
  quantize_nf4(cpu::Queue{}, unit.master, quantized.matrix());
  put(quantized.matrix(), matrix, there);
}

}  // namespace monomorph::train
