#pragma once
#include "train/weights/weights_source.hpp"
#include "train/weights/written_numbers.hpp"

#include <monomorph/runtime/files/safetensors.hpp>

namespace monomorph::train {

/// The buffer, which grows or shrinks to that size, as a matrix without gaps.
inline View sized(std::vector<std::byte>& buffer, DType dtype, Shape shape) {
  buffer.resize(static_cast<std::size_t>(shape.elements() * size_of(dtype)));
  return {buffer.data(), dtype, shape};
}

/// Gives the bytes of consecutive elements of a tensor, converted to `dtype`, a bounded number at a time.
/// @param first element, in the order of the tensor's rows   @param written is told of them
inline void stream_elements(WeightsSource& source, const std::string& name, std::int64_t first, std::int64_t elements,
                            DType dtype, WrittenNumbers& written, const runtime::ByteSink& sink) {
  std::vector<std::byte> bytes;
  in_bounded_pieces(elements, [&](std::int64_t done, std::int64_t n) {
    const View piece = sized(bytes, dtype, {1, n});
    source.read(name, first + done, piece);
    written.count(name, piece, [&](View numbers) { source.read(name, first + done, numbers); });
    sink(bytes);
  });
}

}  // namespace monomorph::train
