#pragma once
#include "train/weights/weights_source.hpp"

#include <monomorph/runtime/kernels/elementwise.hpp>

#include <span>

namespace monomorph::train {

/// Reads as many elements of `dtype` as `to` has, a bounded number at a time, and converts them to the dtype of `to`.
/// @param buffer keeps its memory from call to call
/// @param read (std::int64_t first, std::span<std::byte>): fills the bytes with the elements from `first` on
template <class Read> void read_converted(DType dtype, View to, std::vector<std::byte>& buffer, Read read) {
  in_bounded_pieces(to.elements(), [&](std::int64_t first, std::int64_t n) {
    buffer.resize(static_cast<std::size_t>(n * size_of(dtype)));
    read(first, std::span(buffer));
    cpu::copy(cpu::Queue{}, View(buffer.data(), dtype, {1, n}),
              View(to.data + first * size_of(to.dtype), to.dtype, {1, n}));
  });
}

}  // namespace monomorph::train
