#include "simulator/multiplication.hpp"

#include <monomorph/runtime/kernels/elementwise.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "runtime/kernels/fp8.hpp"
#include "simulator/simulator.hpp"

namespace monomorph::simulator {
namespace {

/// A whole matrix with elements side by side, by columns, transposed if it is to be.
template <class T> class Values {
 public:
  Values(std::int64_t rows, std::int64_t columns)
      : rows_(rows), columns_(columns), elements_(static_cast<std::size_t>(rows * columns)) {}
  T& at(std::int64_t row, std::int64_t column) { return elements_[static_cast<std::size_t>(column * rows_ + row)]; }
  T* column(std::int64_t i) { return &at(0, i); }
  void for_each(auto f) { std::ranges::for_each(elements_, f); }
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  View view() {
    constexpr DType dtype = sizeof(T) == sizeof(double) ? DType::fp64 : DType::fp32;
    return {reinterpret_cast<std::byte*>(elements_.data()), dtype, {columns_, rows_}};
  }

 private:
  std::int64_t rows_, columns_;
  std::vector<T> elements_;
};

template <class F> void for_each_row(const View& view, F&& f) {
  const auto bytes = static_cast<std::size_t>(view.shape.cols * size_of(view.dtype));
  for (std::int64_t row = 0; row < view.shape.rows; ++row)
    f(view.data + row * view.stride * size_of(view.dtype), bytes);
}

template <class Stored, class T> void widen_rows(const View& rows, Values<T>& values) {
  for (std::int64_t row = 0; row < rows.shape.rows; ++row)
    for (std::int64_t i = 0; i < rows.shape.cols; ++i)
      values.at(i, row) = static_cast<T>(widen(rows.as<const Stored>()[row * rows.stride + i]));
}

template <class T> Values<T> stored_values(const View& rows) {
  for_each_row(rows, [](const std::byte* row, std::size_t bytes) { Simulator::the().reads(row, bytes); });
  Values<T> values(rows.shape.cols, rows.shape.rows);
  if (rows.dtype == DType::e4m3)
    widen_rows<E4M3>(rows, values);
  else if (rows.dtype == DType::e5m2)
    widen_rows<E5M2>(rows, values);
  else
    cpu::copy({}, rows, values.view());
  return values;
}

double number_at(const float* place) {
  if (place == nullptr) return 1;
  Simulator::the().reads(place, sizeof *place);
  return *place;
}

template <class T> Values<T> values_of(const Matrix& matrix) {
  Values<T> stored = stored_values<T>(matrix.rows);
  if (!matrix.transposed) return stored;
  Values<T> values(stored.columns(), stored.rows());
  for (std::int64_t i = 0; i < values.rows(); ++i)
    for (std::int64_t j = 0; j < values.columns(); ++j) values.at(i, j) = stored.at(j, i);
  return values;
}

void write(const View& values, const View& rows) {
  for_each_row(rows, [](const std::byte* row, std::size_t bytes) { Simulator::the().writes(row, bytes); });
  cpu::copy({}, values, rows);
}

/// Of Hendrycks and Gimpel's unit by the hyperbolic tangent, which is x times a share of it: that share, and the slope
/// of the whole.
struct Gelu {
  double share, slope;
};
Gelu gelu(double x) {
  constexpr double root = 0.79788456080286535588, cubic = 0.044715;  // of 2 / pi
  const double tangent = std::tanh(root * (x + cubic * x * x * x));
  const double share = (1 + tangent) / 2, slope_of_share = (1 - tangent * tangent) / 2 * root * (1 + 3 * cubic * x * x);
  return {share, share + x * slope_of_share};
}

template <class T> void run_in(const Multiplication& m) {
  Values<T> a = values_of<T>(m.a), b = values_of<T>(m.b), d(m.d.rows.shape.cols, m.d.rows.shape.rows);
  for (std::int64_t column = 0; column < d.columns(); ++column)
    for (std::int64_t i = 0; i < a.columns(); ++i)
      for (std::int64_t row = 0; row < d.rows(); ++row) d.at(row, column) += a.at(row, i) * b.at(i, column);
  if (const double by = m.alpha * number_at(m.a_scale) * number_at(m.b_scale); by != 1)
    for (std::int64_t column = 0; column < d.columns(); ++column)
      for (std::int64_t row = 0; row < d.rows(); ++row) d.at(row, column) *= static_cast<T>(by);
  if (m.beta != 0) {
    Values<T> c = stored_values<T>(m.c.rows);
    for (std::int64_t column = 0; column < d.columns(); ++column)
      for (std::int64_t row = 0; row < d.rows(); ++row) d.at(row, column) += static_cast<T>(m.beta) * c.at(row, column);
  }
  if (m.bias.present()) {
    Values<T> bias = stored_values<T>(m.bias);
    for (std::int64_t column = 0; column < d.columns(); ++column)
      for (std::int64_t row = 0; row < d.rows(); ++row) d.at(row, column) += bias.at(row, 0);
  }
  if (m.after == Multiplication::After::gelu) {
    write(d.view(), m.aux.rows);
    d.for_each([](T& x) { x = static_cast<T>(static_cast<double>(x) * gelu(static_cast<double>(x)).share); });
  }
  if (m.after == Multiplication::After::gelu_gradient) {
    Values<T> of = stored_values<T>(m.aux.rows);
    for (std::int64_t column = 0; column < d.columns(); ++column)
      for (std::int64_t row = 0; row < d.rows(); ++row)
        d.at(row, column) *= static_cast<T>(gelu(static_cast<double>(of.at(row, column))).slope);
  }
  write(d.view(), m.d.rows);
}

}  // namespace

void Multiplication::run() const { d.rows.dtype == DType::fp64 ? run_in<double>(*this) : run_in<float>(*this); }

}  // namespace monomorph::simulator
