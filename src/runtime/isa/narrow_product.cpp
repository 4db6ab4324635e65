#include "runtime/isa/rows.hpp"
#include "runtime/isa/vector_math.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

using Index = std::int64_t;

/// Rows of x and of w whose products are summed in registers together: each element of w that is read serves all rows
/// of x. One or two rows of x are done with w as fast as memory gives it, which is in the order in which it lies.
#if defined(__AVX512F__)
constexpr int most_rows = 8;
constexpr int columns_beside(int rows) { return rows <= 2 ? 1 : 3; }
#else
constexpr int most_rows = 4;
constexpr int columns_beside(int rows) { return rows <= 2 ? 1 : rows == 3 ? 3 : 2; }
#endif

/// Rows one below the other.
template <class S> struct Rows {
  S* first;
  Index stride;
  S* row(Index i) const { return first + i * stride; }
};

/// sums (+)= x wᵀ of a few rows of each. A sum's order depends on k alone: what else is multiplied with it does not
/// move its bits.
template <int rows, int columns, class S>
void multiply_few(Rows<const float> x, Rows<const S> w, Index k, Rows<float> sums, bool add) {
  Lanes<float> lanes[rows][columns] = {};
  Index i = 0;
  for (; i + lane_count<float> <= k; i += lane_count<float>) {
    Lanes<float> of_w[columns];
    for (int column = 0; column < columns; ++column) {
      of_w[column] = load_widened(w.row(column) + i);
      __builtin_prefetch(w.row(column + columns) + i);  // for the next sums: rows are too short to be foreseen
    }
    for (int row = 0; row < rows; ++row) {
      const Lanes<float> of_x = load(x.row(row) + i);
      for (int column = 0; column < columns; ++column) lanes[row][column] += of_x * of_w[column];
    }
  }
  for (int row = 0; row < rows; ++row) {
    float of_row[columns];
    sum_lanes<float>(lanes[row], of_row);
    for (int column = 0; column < columns; ++column) {
      for (Index j = i; j < k; ++j) of_row[column] += x.row(row)[j] * widen(w.row(column)[j]);
      float& to = sums.row(row)[column];
      to = add ? to + of_row[column] : of_row[column];
    }
  }
}

template <int rows, class S>
void multiply_rows(Rows<const float> x, Rows<const S> w, Index n, Index k, Rows<float> sums, bool add) {
  constexpr int columns = columns_beside(rows);
  Index column = 0;
  for (; column + columns <= n; column += columns)
    multiply_few<rows, columns>(x, Rows<const S>{w.row(column), w.stride}, k, {sums.first + column, sums.stride}, add);
  for (; column < n; ++column)
    multiply_few<rows, 1>(x, Rows<const S>{w.row(column), w.stride}, k, {sums.first + column, sums.stride}, add);
}

/// Calls f.operator()<n>() for n = m, at most `most`.
template <int most, class F> void with_number(Index m, F f) {
  if constexpr (most > 1) {
    if (m < most) return with_number<most - 1>(m, f);
  }
  f.template operator()<most>();
}

}  // namespace

/// sums_MN (+)= x_MK w_NKᵀ, x and sums in fp32, w in fp32 or bf16. On the calling thread. For a few rows of x, which
/// stay in the cache while w passes once.
void multiply_narrow(View x, View w, View sums, bool add) {
  const Index k = x.shape.cols, n = w.shape.rows;
  const auto multiply = [&]<class S>() {
    for (Index first = 0; first < x.shape.rows; first += most_rows) {
      with_number<most_rows>(least(most_rows, x.shape.rows - first), [&]<int rows>() {
        multiply_rows<rows>(Rows<const float>{x.as<float>() + first * x.stride, x.stride},
                            Rows<const S>{w.as<S>(), w.stride}, n, k,
                            Rows<float>{sums.as<float>() + first * sums.stride, sums.stride}, add);
      });
    }
  };
  if (w.dtype == DType::bf16) return multiply.template operator()<BFloat16>();
  multiply.template operator()<float>();
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
