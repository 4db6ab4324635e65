#pragma once
#include <concepts>
#include <cstdint>
#include <monomorph/runtime/machine/parallel.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <utility>
#include "runtime/kernels/dtypes.hpp"

// Loops over elements compute in S, float or double, whatever the views hold: a run of at most `chunk` elements is
// converted into a buffer in the first-level cache and back, and a view that holds S is used where it lies.

/// Before a loop whose iterations touch only their own elements, even if what is read and written is the same memory.
#if defined(__clang__)
#define MONOMORPH_ELEMENTWISE _Pragma("clang loop vectorize(assume_safety)")
#else
#define MONOMORPH_ELEMENTWISE _Pragma("GCC ivdep")
#endif

namespace monomorph::cpu::MONOMORPH_ISA {

inline constexpr std::int64_t chunk = 512;
/// Elements of one task of an elementwise kernel: a few of its views fit the second-level cache.
inline constexpr std::int64_t task_elements = 16'384;

template <class To, class From> static void convert(const From* from, To* to, std::int64_t n) {
  MONOMORPH_ELEMENTWISE
  for (std::int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof(From) == 2) {  // bf16 or fp16
      to[i] = static_cast<To>(widen(from[i]));
    } else if constexpr (std::same_as<To, BFloat16>) {
      to[i] = narrow_to_bf16(static_cast<float>(from[i]));
    } else if constexpr (std::same_as<To, Half>) {
      to[i] = narrow_to_half(static_cast<float>(from[i]));
    } else {
      to[i] = static_cast<To>(from[i]);
    }
  }
}

// `read` and `write` have a switch each instead of in_element_type: they are inlined into every kernel, and a lambda in
// between changes the machine code of all of them (docs/why/vector_math.md).

/// n elements of a view from `offset` elements after its start, as S: in place, or converted into the buffer.
template <class S> static inline const S* read(const View& view, std::int64_t offset, std::int64_t n, S* buffer) {
  if (view.dtype == dtype_of<S>) return view.as<S>() + offset;
  switch (view.dtype) {
    case DType::fp32:
      convert(view.as<float>() + offset, buffer, n);
      break;
    case DType::bf16:
      convert(view.as<BFloat16>() + offset, buffer, n);
      break;
    case DType::fp64:
      convert(view.as<double>() + offset, buffer, n);
      break;
    case DType::fp16:
      convert(view.as<Half>() + offset, buffer, n);
      break;
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      __builtin_unreachable();  // no kernel is given such elements, and this costs no instruction
  }
  return buffer;
}

/// Where to compute elements that `write` then stores in the view: in place, or in the buffer.
template <class S> static inline S* place(const View& view, std::int64_t offset, S* buffer) {
  return view.dtype == dtype_of<S> ? view.as<S>() + offset : buffer;
}

template <class S> static inline void write(const S* values, const View& view, std::int64_t offset, std::int64_t n) {
  if (view.dtype == dtype_of<S>) return;
  switch (view.dtype) {
    case DType::fp32:
      convert(values, view.as<float>() + offset, n);
      break;
    case DType::bf16:
      convert(values, view.as<BFloat16>() + offset, n);
      break;
    case DType::fp64:
      convert(values, view.as<double>() + offset, n);
      break;
    case DType::fp16:
      convert(values, view.as<Half>() + offset, n);
      break;
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      __builtin_unreachable();
  }
}

static inline std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
static inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// One scratch buffer of a chunk per view.
template <class S> struct Buffer { alignas(64) S elements[chunk]; };

/// y = f(x…) for each element. Views have the same rows and columns; y may be one of x.
template <class S, class F, class... Views> static void elementwise(const View& y, F f, const Views&... x) {
  const bool flat = y.contiguous() && (x.contiguous() && ...);
  const std::int64_t rows = flat ? 1 : y.shape.rows, columns = flat ? y.elements() : y.shape.cols;
  if (rows <= 0 || columns <= 0) return;
  // Tasks are runs of columns of one row, or several whole rows.
  const std::int64_t run = least(columns, task_elements), runs = ceil_div(columns, run);
  const std::int64_t rows_per_task = runs > 1 ? 1 : ceil_div(task_elements, columns);
  parallel_for(ceil_div(rows, rows_per_task) * runs, [&](std::int64_t task) {
    const std::int64_t first_row = task / runs * rows_per_task, last_row = least(rows, first_row + rows_per_task);
    const std::int64_t first = task % runs * run, last = least(columns, first + run);
    for (std::int64_t row = first_row; row < last_row; ++row) {
      for (std::int64_t column = first; column < last; column += chunk) {
        const std::int64_t n = least(chunk, last - column);
        Buffer<S> y_buffer;
        S* out = place(y, row * y.stride + column, y_buffer.elements);
        const auto compute = [&](auto... in) {
          MONOMORPH_ELEMENTWISE
          for (std::int64_t i = 0; i < n; ++i) out[i] = f(in[i]...);
        };
        Buffer<S> x_buffers[sizeof...(Views)];
        [&]<std::size_t... view>(std::index_sequence<view...>) {
          compute(read(x, row * x.stride + column, n, x_buffers[view].elements)...);
        }
        (std::index_sequence_for<Views...>{});
        write(out, y, row * y.stride + column, n);
      }
    }
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
