#include <cmath>
#include <monomorph/runtime/kernels/rotary.hpp>
#include <numbers>
#include "runtime/kernels/dtypes.hpp"

namespace monomorph::cpu {
namespace {

double scaled(double frequency, const Llama3RotaryScaling& scaling) {
  const double wavelength = 2 * std::numbers::pi / frequency;
  const auto context = static_cast<double>(scaling.original_context);
  if (wavelength < context / scaling.high_frequency_factor) return frequency;
  if (wavelength > context / scaling.low_frequency_factor) return frequency / scaling.factor;
  const double kept = (context / wavelength - scaling.low_frequency_factor) /
                      (scaling.high_frequency_factor - scaling.low_frequency_factor);
  return (1 - kept) * frequency / scaling.factor + kept * frequency;
}

void put(const View& table, std::int64_t row, std::int64_t column, double value) {
  const std::int64_t at = row * table.stride + column;
  in_compute_type(table.dtype, [&]<class S>() { table.as<S>()[at] = static_cast<S>(value); });
}
}  // namespace

void rotary_table(Queue, const RotarySpec& rotary, View cos, View sin) {
  const std::int64_t half = cos.shape.cols;
  for (std::int64_t i = 0; i < half; ++i) {
    double frequency = std::pow(rotary.base, -static_cast<double>(i) / static_cast<double>(half));
    if (rotary.scaling.factor != 1) frequency = scaled(frequency, rotary.scaling);
    for (std::int64_t position = 0; position < cos.shape.rows; ++position) {
      const double angle = static_cast<double>(position) * frequency;
      put(cos, position, i, std::cos(angle));
      put(sin, position, i, std::sin(angle));
    }
  }
}

}  // namespace monomorph::cpu
