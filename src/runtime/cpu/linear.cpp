#include <algorithm>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <monomorph/runtime/machine/parallel.hpp>
#include "runtime/cpu/gemm.hpp"
#include "runtime/machine/isa.hpp"
#include "runtime/memory/thread_workspace.hpp"

namespace monomorph::cpu {
MONOMORPH_PER_ISA(void add_to_tile(View tile, View bias, View residual))
MONOMORPH_PER_ISA(void copy_tile(View from, View to))
MONOMORPH_PER_ISA(void multiply_narrow(View x, View w, View sums, bool add))
MONOMORPH_PER_ISA(void sum_columns(View x, View sums, bool accumulate))
namespace {
using monomorph::detail::GemmShape;
using monomorph::detail::Transpose;

/// A matrix, or its transpose, as a factor of a product.
struct Factor {
  View view;
  Transpose transposed;
  std::int64_t rows() const { return transposed == Transpose::yes ? view.shape.cols : view.shape.rows; }
  std::int64_t cols() const { return transposed == Transpose::yes ? view.shape.rows : view.shape.cols; }
  Factor block(std::int64_t row, std::int64_t n_rows, std::int64_t col, std::int64_t n_cols) const {
    if (transposed == Transpose::yes) return {view.rows(col, n_cols).columns(row, n_rows), transposed};
    return {view.rows(row, n_rows).columns(col, n_cols), transposed};
  }
};

/// result = a · b + residual + bias, where bias (a row) and residual may be absent.
struct Product {
  Factor a, b;
  View bias, residual, result;
};

// A task is one tile of the result, computed on one thread: tiles depend on the shape alone, and what is added to the
// product or rounded from it is done while the tile is in the cache. Measured with two threads, the library's own
// division of a product among threads is no faster.
constexpr std::int64_t tile_rows = 256, tile_columns = 512, tile_depth = 256;
constexpr std::int64_t narrow_columns = 48;  // where few rows are multiplied

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// An extent cut into pieces of equal size, a multiple of 16 (but for the last).
struct Pieces {
  std::int64_t extent, size;
  Pieces(std::int64_t of, std::int64_t n) : extent(of), size(ceil_div(ceil_div(of, n), 16) * 16) {}
  std::int64_t count() const { return ceil_div(extent, size); }
  std::int64_t first(std::int64_t i) const { return i * size; }
  std::int64_t length(std::int64_t i) const { return std::min(size, extent - i * size); }
};

/// Few tiles should be a multiple of four, so that no thread is left without work for long.
std::int64_t row_pieces(std::int64_t rows, std::int64_t column_pieces) {
  constexpr std::int64_t many = 16, least_rows = 32;
  std::int64_t n = ceil_div(rows, tile_rows);
  while (n * column_pieces < many && n * column_pieces % 4 != 0 && rows >= (n + 1) * least_rows) ++n;
  return n;
}

/// c (+)= a · b on this thread with operands that the library multiplies.
void multiply(const Factor& a, const Factor& b, const View& c, bool add) {
  const GemmShape shape{a.rows(), b.cols(), a.cols(), a.transposed, b.transposed};
  if (a.view.dtype == DType::bf16) {
    monomorph::detail::gemm_bf16(shape, 1, a.view.as<std::uint16_t>(), a.view.stride, b.view.as<std::uint16_t>(),
                                 b.view.stride, add ? 1.0f : 0.0f, c.as<float>(), c.stride);
  } else if (a.view.dtype == DType::fp32) {
    monomorph::detail::gemm(shape, 1.0f, a.view.as<float>(), a.view.stride, b.view.as<float>(), b.view.stride,
                            add ? 1.0f : 0.0f, c.as<float>(), c.stride);
  } else {
    monomorph::detail::gemm(shape, 1.0, a.view.as<double>(), a.view.stride, b.view.as<double>(), b.view.stride,
                            add ? 1.0 : 0.0, c.as<double>(), c.stride);
  }
}

/// Hands out pieces of the calling thread's workspace.
class TileMemory {
 public:
  View take(DType dtype, Shape shape) {
    const View view{next_, dtype, shape};
    next_ += (view.bytes() + 63) / 64 * 64;
    return view;
  }

 private:
  std::byte* next_ = monomorph::detail::tile_workspace();
};
static_assert(monomorph::detail::tile_workspace_bytes >=
              8 * (tile_rows * tile_columns + tile_depth * (tile_rows + tile_columns)));

/// The factor's elements in `dtype`: itself, or a converted copy.
Factor converted(const Factor& factor, DType dtype, TileMemory& memory) {
  if (factor.view.dtype == dtype) return factor;
  const View copy = memory.take(dtype, factor.view.shape);
  MONOMORPH_SELECT(copy_tile)(factor.view, copy);
  return {copy, factor.transposed};
}

/// sum (+)= a · b on this thread, with memory for what is converted.
using Multiply = void (*)(const Product& product, const View& sum, bool add, TileMemory memory);

void multiply_as_stored(const Product& product, const View& sum, bool add, TileMemory) {
  multiply(product.a, product.b, sum, add);
}

void multiply_converted(const Product& product, const View& sum, bool add, TileMemory memory) {
  const TileMemory before = memory;
  const std::int64_t depth = product.a.cols();
  for (std::int64_t k = 0; k < depth; k += tile_depth, add = true) {
    const std::int64_t n = std::min(tile_depth, depth - k);
    memory = before;
    const Factor a = converted(product.a.block(0, product.a.rows(), k, n), sum.dtype, memory);
    multiply(a, converted(product.b.block(k, n, 0, product.b.cols()), sum.dtype, memory), sum, add);
  }
}

void multiply_few_rows(const Product& product, const View& sum, bool add, TileMemory memory) {
  const Factor a = converted(product.a, sum.dtype, memory);
  MONOMORPH_SELECT(multiply_narrow)(a.view, product.b.view, sum, add);
}

void tile(const Product& product, DType compute, Multiply multiply) {
  TileMemory memory;
  const View& result = product.result;
  const View sum = result.dtype == compute ? result : memory.take(compute, result.shape);
  // What is there already is added by the product itself, anything else afterwards.
  const bool add = product.residual.present() && product.residual.data == sum.data;
  const View residual = add ? View{} : product.residual;
  multiply(product, sum, add, memory);
  if (product.bias.present() || residual.present()) MONOMORPH_SELECT(add_to_tile)(sum, product.bias, residual);
  if (sum.data != result.data) MONOMORPH_SELECT(copy_tile)(sum, result);
}

/// Whether x has so few rows, as in a pass that decodes, that reading w is what takes the time. The library copies w
/// into another order first, which pays with many rows alone.
bool is_narrow(const Product& product) {
  constexpr std::int64_t most_rows = 16, most_elements = 1 << 19;  // of x, converted
  const View &x = product.a.view, &w = product.b.view;
  return x.shape.rows <= most_rows && x.elements() <= most_elements && product.a.transposed == Transpose::no &&
         product.b.transposed == Transpose::yes && x.dtype == w.dtype &&
         (x.dtype == DType::fp32 || x.dtype == DType::bf16) && product.result.dtype != DType::fp64;
}

/// Whether the library has the product of such factors.
bool library_multiplies(const Product& product, DType wider) {
  const DType a = product.a.view.dtype, b = product.b.view.dtype;
  return (a == wider && b == wider) || (a == DType::bf16 && b == DType::bf16 && wider == DType::fp32 &&
                                        monomorph::detail::processor_multiplies_bf16());
}

View part(const View& view, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  return view.present() ? view.rows(row, rows).columns(column, columns) : View{};
}

/// Before the first tile of each row of tiles, calls before(first row, rows): what it reads is then in the cache.
template <class Before> void run(const Product& product, Before before) {
  const auto [m, n] = product.result.shape;
  if (m <= 0 || n <= 0) return;
  const DType wider =
      product.a.view.dtype == DType::fp64 || product.b.view.dtype == DType::fp64 || product.result.dtype == DType::fp64
          ? DType::fp64
          : DType::fp32;
  const bool narrow = is_narrow(product);
  if (!narrow) monomorph::detail::load_products();
  const Multiply multiply = narrow                               ? multiply_few_rows
                            : library_multiplies(product, wider) ? multiply_as_stored
                                                                 : multiply_converted;
  const Pieces columns(n, ceil_div(n, narrow ? narrow_columns : tile_columns)),
      rows(m, narrow ? 1 : row_pieces(m, columns.count()));
  parallel_for(rows.count() * columns.count(), [&](std::int64_t task) {
    const std::int64_t i = task / columns.count(), j = task % columns.count();
    const std::int64_t row = rows.first(i), n_rows = rows.length(i), column = columns.first(j);
    const std::int64_t n_columns = columns.length(j), depth = product.a.cols();
    if (j == 0) before(row, n_rows);
    tile({product.a.block(row, n_rows, 0, depth), product.b.block(0, depth, column, n_columns),
          part(product.bias, 0, 1, column, n_columns), part(product.residual, row, n_rows, column, n_columns),
          part(product.result, row, n_rows, column, n_columns)},
         wider, multiply);
  });
}
void run(const Product& product) {
  run(product, [](std::int64_t, std::int64_t) {});
}
}  // namespace

void linear(Queue, View x, View w, View bias, View y) {
  const KernelSpan span(Work::products, "linear");
  run({{x, Transpose::no}, {w, Transpose::yes}, bias, View{}, y});
}

void linear_add(Queue, View x, View w, View bias, View residual, View y) {
  const KernelSpan span(Work::products, "linear_add");
  run({{x, Transpose::no}, {w, Transpose::yes}, bias, residual, y});
}

void linear_backward_input(Queue, View dy, View w, View dx, bool accumulate) {
  const KernelSpan span(Work::products, "linear_backward_input");
  run({{dy, Transpose::no}, {w, Transpose::no}, View{}, accumulate ? dx : View{}, dx});
}

void linear_backward_weight(Queue, View dy, View x, View dw, View dbias, bool accumulate) {
  const KernelSpan span(Work::products, "linear_backward_weight");
  if (!dw.present()) {  // frozen alone
    if (dbias.present()) MONOMORPH_SELECT(sum_columns)(dy, dbias, accumulate);
    return;
  }
  run({{dy, Transpose::yes}, {x, Transpose::no}, View{}, accumulate ? dw : View{}, dw},
      [&](std::int64_t row, std::int64_t n_rows) {
        if (!dbias.present()) return;
        MONOMORPH_SELECT(sum_columns)(dy.columns(row, n_rows), dbias.columns(row, n_rows), accumulate);
      });
}

}  // namespace monomorph::cpu
