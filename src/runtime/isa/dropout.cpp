#include "runtime/isa/dropout_mask.hpp"
#include "runtime/isa/rows.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

// y = x · mask (+ residual, if present)
template <class S> void apply(const View& x, const View& residual, const View& y, const DropoutKey& key) {
  const detail::DropoutStream stream = detail::dropout_stream(key);
  const std::int64_t rows = x.shape.rows, columns = x.shape.cols;
  const std::int64_t rows_per_task = ceil_div(task_elements, columns);
  parallel_for(ceil_div(rows, rows_per_task), [&](std::int64_t task) {
    Buffer<S> mask, x_buffer, residual_buffer, y_buffer;
    const std::int64_t end = least(rows, (task + 1) * rows_per_task);
    for (std::int64_t row = task * rows_per_task; row < end; ++row) {
      const std::uint64_t sample = key.first_sample + static_cast<std::uint64_t>(row / key.tokens_per_sample);
      for (std::int64_t column = 0; column < columns; column += chunk) {
        const std::int64_t n = least(chunk, columns - column);
        draw_mask(stream, sample, row % key.tokens_per_sample, column, n, mask.elements);
        const S* in = read(x, row * x.stride + column, n, x_buffer.elements);
        S* out = place(y, row * y.stride + column, y_buffer.elements);
        const S* factor = mask.elements;
        if (residual.present()) {
          const S* before = read(residual, row * residual.stride + column, n, residual_buffer.elements);
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) out[i] = before[i] + in[i] * factor[i];
        } else {
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) out[i] = in[i] * factor[i];
        }
        write(out, y, row * y.stride + column, n);
      }
    }
  });
}
}  // namespace

void dropout(View x, View y, const DropoutKey& key) {
  in_compute_type(x.dtype, [&]<class S>() { apply<S>(x, View{}, y, key); });
}
void dropout_add(View x, View residual, View y, const DropoutKey& key) {
  in_compute_type(x.dtype, [&]<class S>() { apply<S>(x, residual, y, key); });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
