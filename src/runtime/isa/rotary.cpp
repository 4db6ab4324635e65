#include "runtime/isa/rows.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {

void rotary(View x, View cos, View sin, std::int64_t tokens, std::int64_t first_position, bool inverse,
            const std::int32_t* document_starts) {
  const std::int64_t half = cos.shape.cols, heads = x.shape.cols / (2 * half), rows = x.shape.rows;
  const std::int64_t rows_per_task = ceil_div(task_elements, x.shape.cols);
  in_compute_type(cos.dtype, [&]<class S>() {
    const S direction = inverse ? S(-1) : S(1);
    parallel_for(ceil_div(rows, rows_per_task), [&](std::int64_t task) {
      Buffer<S> low_buffer, high_buffer;
      const std::int64_t end = least(rows, (task + 1) * rows_per_task);
      for (std::int64_t row = task * rows_per_task; row < end; ++row) {
        const std::int64_t start = document_starts != nullptr ? document_starts[row] : 0;
        const std::int64_t position = first_position + row % tokens - start;
        for (std::int64_t head = 0; head < heads; ++head) {
          for (std::int64_t column = 0; column < half; column += chunk) {
            const std::int64_t n = least(chunk, half - column), at = row * x.stride + head * 2 * half + column;
            const S* c = cos.as<S>() + position * cos.stride + column;
            const S* s = sin.as<S>() + position * sin.stride + column;
            const S* low = read(x, at, n, low_buffer.elements);
            const S* high = read(x, at + half, n, high_buffer.elements);
            S* low_out = place(x, at, low_buffer.elements);
            S* high_out = place(x, at + half, high_buffer.elements);
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) {
              const S a = low[i], b = high[i], sine = direction * s[i];
              low_out[i] = a * c[i] - b * sine;
              high_out[i] = b * c[i] + a * sine;
            }
            write(low_out, x, at, n);
            write(high_out, x, at + half, n);
          }
        }
      }
    });
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
