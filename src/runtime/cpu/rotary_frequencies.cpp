#include <monomorph/runtime/kernels/rotary_frequencies.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

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

double scaled_base(const RotarySpec& rotary, std::int64_t half, std::int64_t tokens) {
  const DynamicRotaryScaling& dynamic = rotary.dynamic;
  if (!dynamic.original_context.given || tokens <= dynamic.original_context.value) return rotary.base;
  const double growth =
      dynamic.factor * static_cast<double>(tokens) / static_cast<double>(dynamic.original_context.value) -
      (dynamic.factor - 1);
  return rotary.base * std::pow(growth, static_cast<double>(half) / static_cast<double>(half - 1));
}

/// From 0, where frequencies are kept, to 1, where they are divided by the factor.
class YarnRamp {
 public:
  YarnRamp(const RotarySpec& rotary, std::int64_t half) {
    const YarnRotaryScaling& yarn = rotary.yarn;
    const auto number_of_turning = [&](double turns) {  // of the frequency that turns so often within the context
      const double wavelength = static_cast<double>(yarn.original_context) / turns;
      return static_cast<double>(half) * std::log(wavelength / (2 * std::numbers::pi)) / std::log(rotary.base);
    };
    begin_ = number_of_turning(yarn.beta_fast), end_ = number_of_turning(yarn.beta_slow);
    if (yarn.truncate) begin_ = std::floor(begin_), end_ = std::ceil(end_);
    begin_ = std::max(begin_, 0.0), end_ = std::min(end_, static_cast<double>(2 * half - 1));
    if (begin_ == end_) end_ += 0.001;  // as published: a step, and no division by zero
  }
  double at(std::int64_t i) const { return std::clamp((static_cast<double>(i) - begin_) / (end_ - begin_), 0.0, 1.0); }

 private:
  double begin_, end_;
};

void scale(const RotarySpec& rotary, RotaryFrequencies& frequencies) {
  const YarnRotaryScaling& yarn = rotary.yarn;
  const YarnRamp ramp(rotary, static_cast<std::int64_t>(frequencies.frequency_H.size()));
  std::int64_t i = 0;
  for (double& frequency : frequencies.frequency_H) {
    const double divided = ramp.at(i++);
    frequency = divided * frequency / yarn.factor + (1 - divided) * frequency;
  }
  frequencies.attention_factor = yarn.attention_factor.value_or(0.1 * std::log(yarn.factor) + 1);
}

}  // namespace

RotaryFrequencies rotary_frequencies(const RotarySpec& rotary, std::int64_t half, std::int64_t tokens) {
  RotaryFrequencies frequencies;
  const double base = scaled_base(rotary, half, tokens);
  for (std::int64_t i = 0; i < half; ++i) {
    double frequency = std::pow(base, -static_cast<double>(i) / static_cast<double>(half));
    if (rotary.scaling.factor != 1) frequency = scaled(frequency, rotary.scaling);
    if (rotary.linear.factor != 1) frequency /= rotary.linear.factor;
    frequencies.frequency_H.push_back(frequency);
  }
  if (rotary.yarn.factor != 1) scale(rotary, frequencies);
  return frequencies;
}

}  // namespace monomorph::cpu
