#include "runtime/isa/rows.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {

/// tile += bias + residual, either of which may be absent. On the calling thread.
void add_to_tile(View tile, View bias, View residual) {
  in_compute_type(tile.dtype, [&]<class S>() {
    Buffer<S> bias_buffer, residual_buffer;
    for (std::int64_t row = 0; row < tile.shape.rows; ++row) {
      for (std::int64_t column = 0; column < tile.shape.cols; column += chunk) {
        const std::int64_t n = least(chunk, tile.shape.cols - column);
        S* out = tile.as<S>() + row * tile.stride + column;
        const S* shift = bias.present() ? read(bias, column, n, bias_buffer.elements) : nullptr;
        const S* before =
            residual.present() ? read(residual, row * residual.stride + column, n, residual_buffer.elements) : nullptr;
        if (shift != nullptr && before != nullptr) {
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) out[i] += before[i] + shift[i];
        } else if (const S* only = shift != nullptr ? shift : before; only != nullptr) {
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) out[i] += only[i];
        }
      }
    }
  });
}

/// to = from, converted. On the calling thread.
void copy_tile(View from, View to) {
  in_compute_type(to.dtype == DType::fp64 ? DType::fp64 : from.dtype, [&]<class S>() {
    Buffer<S> from_buffer, to_buffer;
    for (std::int64_t row = 0; row < from.shape.rows; ++row) {
      for (std::int64_t column = 0; column < from.shape.cols; column += chunk) {
        const std::int64_t n = least(chunk, from.shape.cols - column), at = row * to.stride + column;
        const S* in = read(from, row * from.stride + column, n, from_buffer.elements);
        S* out = place(to, at, to_buffer.elements);
        MONOMORPH_ELEMENTWISE
        for (std::int64_t i = 0; i < n; ++i) out[i] = in[i];
        write(out, to, at, n);
      }
    }
  });
}

/// sums_N (+)= column sums of x: blocks of 32 rows are summed first, so that errors grow slowly. On the calling thread.
void sum_columns(View x, View sums, bool accumulate) {
  constexpr std::int64_t block_rows = 32;
  in_compute_type(sums.dtype, [&]<class S>() {
    Buffer<S> total, block, x_buffer, before_buffer;
    for (std::int64_t column = 0; column < x.shape.cols; column += chunk) {
      const std::int64_t n = least(chunk, x.shape.cols - column);
      S *all = total.elements, *some = block.elements;
      for (std::int64_t i = 0; i < n; ++i) all[i] = 0;
      for (std::int64_t first = 0; first < x.shape.rows; first += block_rows) {
        for (std::int64_t i = 0; i < n; ++i) some[i] = 0;
        for (std::int64_t row = first; row < least(x.shape.rows, first + block_rows); ++row) {
          const S* in = read(x, row * x.stride + column, n, x_buffer.elements);
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) some[i] += in[i];
        }
        for (std::int64_t i = 0; i < n; ++i) all[i] += some[i];
      }
      if (accumulate) {
        const S* before = read(sums, column, n, before_buffer.elements);
        for (std::int64_t i = 0; i < n; ++i) all[i] += before[i];
      }
      S* out = place(sums, column, before_buffer.elements);
      for (std::int64_t i = 0; i < n; ++i) out[i] = all[i];
      write(out, sums, column, n);
    }
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
