#include <cstring>
#include "runtime/isa/rows.hpp"
#include "runtime/kernels/soft_cap_math.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {

void copy(View from, View to) {
  const bool wide = from.dtype == DType::fp64 || to.dtype == DType::fp64;
  in_compute_type(wide ? DType::fp64 : DType::fp32, [&]<class S>() {
    elementwise<S>(
        to, [](S x) { return x; }, from);
  });
}

void add(View x, View y) {
  in_compute_type(y.dtype, [&]<class S>() {
    elementwise<S>(
        y, [](S a, S b) { return a + b; }, y, x);
  });
}

void zero(View x) {
  // The bytes of zero are zero in every dtype.
  const std::int64_t width = size_of(x.dtype), rows = x.contiguous() ? 1 : x.shape.rows;
  const std::int64_t row_bytes = x.contiguous() ? x.bytes() : x.shape.cols * width;
  if (rows <= 0 || row_bytes <= 0) return;
  constexpr std::int64_t run = 1 << 18;
  const std::int64_t runs = ceil_div(row_bytes, run), rows_per_task = runs > 1 ? 1 : ceil_div(run, row_bytes);
  parallel_for(ceil_div(rows, rows_per_task) * runs, [&](std::int64_t task) {
    const std::int64_t first = task / runs * rows_per_task, start = task % runs * run;
    for (std::int64_t row = first; row < least(rows, first + rows_per_task); ++row) {
      std::memset(x.data + row * x.stride * width + start, 0, static_cast<std::size_t>(least(run, row_bytes - start)));
    }
  });
}

void scale(View x, double a, View y) {
  in_compute_type(y.dtype, [&]<class S>() {
    elementwise<S>(
        y, [a = static_cast<S>(a)](S u) { return a * u; }, x);
  });
}

void scale_and_add(View x, double a, View y, double b) {
  in_compute_type(y.dtype, [&]<class S>() {
    elementwise<S>(
        y, [a = static_cast<S>(a), b = static_cast<S>(b)](S u, S v) { return a * u + b * v; }, x, y);
  });
}

void soft_cap(View x, double cap, View y) {
  in_compute_type(y.dtype, [&]<class S>() { elementwise<S>(y, SoftCap<S>(cap), x); });
}

void soft_cap_backward(View y, View dy, double cap, View dx) {
  in_compute_type(dx.dtype, [&]<class S>() { elementwise<S>(dx, SoftCapGradient<S>(cap), y, dy); });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
