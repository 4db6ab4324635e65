#include "train/weights/read_bits_and_bytes.hpp"

#include "runtime/kernels/nf4_values.hpp"
#include "train/weights/read_converted.hpp"

#include <monomorph/train/step/quantized_matrix.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

namespace monomorph::train {
namespace {

using Tensor = FolderTensors::Tensor;

void copy_into(const Tensor& from, const View& to) {
  std::memcpy(to.data, from.file->data(*from.entry), static_cast<std::size_t>(to.bytes()));
}

/// Which a file may have at any address.
std::vector<float> floats_of(const Tensor& tensor) {
  std::vector<float> values((tensor.entry->end - tensor.entry->begin) / sizeof(float));
  std::memcpy(values.data(), tensor.file->data(*tensor.entry), values.size() * sizeof(float));
  return values;
}
View row_of(std::vector<float>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), DType::fp32, {1, std::ssize(values)}};
}

/// A block of zeros has a scale of 0, and codes of any value: with a scale that isn't quite 0 they must be those of it.
void clear_blocks_of_zeros(const std::vector<float>& scales, View codes) {
  constexpr std::uint8_t two_zeros = 0x77;
  for (std::size_t i = 0; i < scales.size(); ++i)
    if (scales[i] == 0)
      std::fill_n(codes.as<std::uint8_t>() + static_cast<std::int64_t>(i) * Nf4Places::block / 2, Nf4Places::block / 2,
                  two_zeros);
}

void compare_scales(const std::vector<float>& scales, const Nf4Matrix& quantized, ScaleChanges& changes) {
  const float offset = *quantized.offset.as<float>();
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const float nested = quantized.nested_absmax.as<float>()[i / Nf4Places::nested_block];
    changes.add(scales[i], dynamic_values[quantized.absmax.as<std::uint8_t>()[i]] * nested + offset);
  }
}

}  // namespace

void read_nf4(const BitsAndBytesMatrix& matrix, const Nf4Matrix& to, ScaleChanges& changes) {
  copy_into(matrix.codes, to.codes);
  if (matrix.nested_absmax) {
    copy_into(matrix.absmax, to.absmax);
    copy_into(*matrix.nested_absmax, to.nested_absmax);
    *to.offset.as<float>() = matrix.offset;
    return;
  }
  std::vector<float> scales = floats_of(matrix.absmax);
  clear_blocks_of_zeros(scales, to.codes);
  cpu::quantize_absmax(cpu::Queue{}, row_of(scales), to);
  compare_scales(scales, to, changes);
}

void dequantize(const BitsAndBytesMatrix& matrix, View to) {
  if (matrix.nested_absmax) {
    const Nf4Buffer buffer(matrix.shape.elements());
    ScaleChanges none;
    read_nf4(matrix, buffer.matrix(), none);
    return cpu::dequantize_nf4(cpu::Queue{}, buffer.matrix(), to);
  }
  const std::vector<float> scales = floats_of(matrix.absmax);
  const auto* const pairs = reinterpret_cast<const std::uint8_t*>(matrix.codes.file->data(*matrix.codes.entry));
  const auto number = [&](std::int64_t element) {
    const std::uint8_t pair = pairs[element / 2];
    const int code = element % 2 == 0 ? pair >> 4 : pair & 15;
    return nf4_values[static_cast<std::size_t>(code)] * scales[static_cast<std::size_t>(element / Nf4Places::block)];
  };
  std::vector<std::byte> buffer;
  read_converted(DType::fp32, to.reshaped({1, to.elements()}), buffer,
                 [&](std::int64_t first, std::span<std::byte> bytes) {
                   auto* const numbers = reinterpret_cast<float*>(bytes.data());
                   for (std::int64_t i = 0; i < std::ssize(bytes) / size_of(DType::fp32); ++i)
                     numbers[i] = number(first + i);
                 });
}

}  // namespace monomorph::train
