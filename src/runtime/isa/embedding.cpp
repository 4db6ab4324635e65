#include "runtime/isa/rows.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

/// A task of the backward passes adds up one block of features, over all rows in their order.
inline constexpr std::int64_t task_columns = 64;

template <class S>
inline void add_run(const View& from, std::int64_t from_at, const View& to, std::int64_t to_at, std::int64_t n,
                    S scale) {
  Buffer<S> from_buffer, to_buffer;
  const S* in = read(from, from_at, n, from_buffer.elements);
  const S* before = read(to, to_at, n, to_buffer.elements);
  S* out = place(to, to_at, to_buffer.elements);
  MONOMORPH_ELEMENTWISE
  for (std::int64_t i = 0; i < n; ++i) out[i] = before[i] + scale * in[i];
  write(out, to, to_at, n);
}
}  // namespace

void embedding(const std::int32_t* ids, View table, View positions, std::int64_t tokens, std::int64_t first_position,
               View x, const std::int32_t* document_starts, double scale) {
  const std::int64_t rows = x.shape.rows, columns = x.shape.cols, rows_per_task = ceil_div(task_elements, columns);
  in_compute_type(x.dtype, [&]<class S>() {
    const auto factor = static_cast<S>(as_element(x.dtype, scale));
    parallel_for(ceil_div(rows, rows_per_task), [&](std::int64_t task) {
      Buffer<S> table_buffer, position_buffer, x_buffer;
      const std::int64_t end = least(rows, (task + 1) * rows_per_task);
      for (std::int64_t row = task * rows_per_task; row < end; ++row) {
        const std::int64_t entry = ids[row] * table.stride;
        const std::int64_t start = document_starts != nullptr ? document_starts[row] : 0;
        const std::int64_t position = (first_position + row % tokens - start) * positions.stride;
        for (std::int64_t column = 0; column < columns; column += chunk) {
          const std::int64_t n = least(chunk, columns - column);
          const S* in = read(table, entry + column, n, table_buffer.elements);
          S* out = place(x, row * x.stride + column, x_buffer.elements);
          if (positions.present()) {
            const S* shift = read(positions, position + column, n, position_buffer.elements);
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) out[i] = factor * in[i] + shift[i];
          } else {
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) out[i] = factor * in[i];
          }
          write(out, x, row * x.stride + column, n);
        }
      }
    });
  });
}

void embedding_backward(const std::int32_t* ids, View dx, View dtable, double scale) {
  const std::int64_t rows = dx.shape.rows, columns = dx.shape.cols;
  in_compute_type(dtable.dtype, [&]<class S>() {
    const auto factor = static_cast<S>(as_element(dx.dtype, scale));
    parallel_for(ceil_div(columns, task_columns), [&](std::int64_t task) {
      const std::int64_t column = task * task_columns, n = least(task_columns, columns - column);
      for (std::int64_t row = 0; row < rows; ++row) {
        add_run<S>(dx, row * dx.stride + column, dtable, ids[row] * dtable.stride + column, n, factor);
      }
    });
  });
}

/// Calls f with the rows at a position, in their order.
template <class F>
static inline void for_each_row_at(std::int64_t position, std::int64_t rows, std::int64_t tokens,
                                   const std::int32_t* document_starts, F&& f) {
  for (std::int64_t first = 0; first < rows; first += tokens) {
    const std::int64_t end = least(rows, first + tokens);
    if (document_starts == nullptr) {
      if (first + position < end) f(first + position);
      continue;
    }
    for (std::int64_t row = first + position; row < end; ++row)
      if (document_starts[row] == row - first - position) f(row);
  }
}

void position_embedding_backward(View dx, std::int64_t tokens, View dpositions, bool accumulate,
                                 const std::int32_t* document_starts) {
  const std::int64_t rows = dx.shape.rows, columns = dx.shape.cols;
  const std::int64_t positions_per_task = ceil_div(task_elements, columns * ceil_div(rows, tokens));
  in_compute_type(dpositions.dtype, [&]<class S>() {
    parallel_for(ceil_div(dpositions.shape.rows, positions_per_task), [&](std::int64_t task) {
      Buffer<S> total, dx_buffer, before_buffer;
      const std::int64_t end = least(dpositions.shape.rows, (task + 1) * positions_per_task);
      for (std::int64_t position = task * positions_per_task; position < end; ++position) {
        for (std::int64_t column = 0; column < columns; column += chunk) {
          const std::int64_t n = least(chunk, columns - column), to = position * dpositions.stride + column;
          S* sums = total.elements;
          for (std::int64_t i = 0; i < n; ++i) sums[i] = 0;
          for_each_row_at(position, rows, tokens, document_starts, [&](std::int64_t row) {
            const S* in = read(dx, row * dx.stride + column, n, dx_buffer.elements);
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) sums[i] += in[i];
          });
          S* out = place(dpositions, to, before_buffer.elements);
          if (accumulate) {
            const S* before = read(dpositions, to, n, before_buffer.elements);
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) out[i] = before[i] + sums[i];
          } else {
            MONOMORPH_ELEMENTWISE
            for (std::int64_t i = 0; i < n; ++i) out[i] = sums[i];
          }
          write(out, dpositions, to, n);
        }
      }
    });
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
