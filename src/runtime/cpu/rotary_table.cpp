#include <cmath>
#include <monomorph/runtime/kernels/rotary.hpp>
#include <monomorph/runtime/kernels/rotary_frequencies.hpp>
#include "runtime/kernels/dtypes.hpp"

namespace monomorph::cpu {
namespace {

void put(const View& table, std::int64_t row, std::int64_t column, double value) {
  const std::int64_t at = row * table.stride + column;
  in_compute_type(table.dtype, [&]<class S>() { table.as<S>()[at] = static_cast<S>(value); });
}
}  // namespace

void rotary_table(Queue, const RotarySpec& rotary, View cos, View sin) {
  const std::int64_t half = cos.shape.cols;
  const RotaryFrequencies frequencies = rotary_frequencies(rotary, half, cos.shape.rows);
  for (std::int64_t i = 0; i < half; ++i) {
    const double frequency = frequencies.frequency_H[static_cast<std::size_t>(i)];
    for (std::int64_t position = 0; position < cos.shape.rows; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      put(cos, position, i, frequencies.attention_factor * std::cos(angle));
      put(sin, position, i, frequencies.attention_factor * std::sin(angle));
    }
  }
}

}  // namespace monomorph::cpu
