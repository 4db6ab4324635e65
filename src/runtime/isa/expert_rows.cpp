#include "runtime/isa/rows.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {

void combine_rows(View rows_ND, const std::int32_t* rows_Mk, std::int64_t top_k, View weights_Mk, View residual,
                  View y) {
  const std::int64_t tokens = y.shape.rows, columns = y.shape.cols, tokens_per_task = ceil_div(task_elements, columns);
  in_compute_type(y.dtype, [&]<class S>() {
    parallel_for(ceil_div(tokens, tokens_per_task), [&](std::int64_t task) {
      Buffer<S> sum, row_buffer, residual_buffer;
      const std::int64_t end = least(tokens, (task + 1) * tokens_per_task);
      for (std::int64_t token = task * tokens_per_task; token < end; ++token)
        for (std::int64_t column = 0; column < columns; column += chunk) {
          const std::int64_t n = least(chunk, columns - column);
          S* const total = sum.elements;
          if (residual.present()) {
            const S* before = read(residual, token * residual.stride + column, n, residual_buffer.elements);
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) total[i] = before[i];
          } else {
            for (std::int64_t i = 0; i < n; ++i) total[i] = 0;
          }
          for (std::int64_t pair = token * top_k; pair < (token + 1) * top_k; ++pair) {
            if (rows_Mk[pair] < 0) continue;
            const S* row = read(rows_ND, rows_Mk[pair] * rows_ND.stride + column, n, row_buffer.elements);
            const S weight = weights_Mk.present() ? weights_Mk.as<S>()[pair] : S{1};
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) total[i] += weight * row[i];
          }
          S* const out = place(y, token * y.stride + column, total);
          if (out != total)
            for (std::int64_t i = 0; i < n; ++i) out[i] = total[i];
          write(total, y, token * y.stride + column, n);
        }
    });
  });
}

void weigh_rows_backward(View a, View d, const std::int32_t* pairs_N, std::int64_t n_rows, View weights_Mk) {
  const std::int64_t columns = a.shape.cols, rows_per_task = ceil_div(task_elements, columns);
  in_compute_type(a.dtype, [&]<class S>() {
    parallel_for(ceil_div(n_rows, rows_per_task), [&](std::int64_t task) {
      Buffer<S> a_buffer, d_buffer;
      const std::int64_t end = least(n_rows, (task + 1) * rows_per_task);
      for (std::int64_t row = task * rows_per_task; row < end; ++row) {
        S& weight = weights_Mk.as<S>()[pairs_N[row]];
        S dot = 0;
        for (std::int64_t column = 0; column < columns; column += chunk) {
          const std::int64_t n = least(chunk, columns - column);
          const S* a_in = read(a, row * a.stride + column, n, a_buffer.elements);
          const S* d_in = read(d, row * d.stride + column, n, d_buffer.elements);
          for (std::int64_t i = 0; i < n; ++i) dot += a_in[i] * d_in[i];
          S* a_out = place(a, row * a.stride + column, a_buffer.elements);
          S* d_out = place(d, row * d.stride + column, d_buffer.elements);
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) a_out[i] = weight * a_in[i];
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) d_out[i] = weight * d_in[i];
          write(a_out, a, row * a.stride + column, n);
          write(d_out, d, row * d.stride + column, n);
        }
        weight = dot;
      }
    });
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
