#include <monomorph/runtime/kernels/nf4.hpp>

#include "runtime/cpu/dispatch.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/nf4_values.hpp"

#include <monomorph/runtime/machine/parallel.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace monomorph::cpu {
namespace {

constexpr std::int64_t block = Nf4Places::block, nested_block = Nf4Places::nested_block;

std::int64_t nested_blocks_of(std::int64_t n_blocks) { return (n_blocks + nested_block - 1) / nested_block; }

/// By what elements are divided by: a reciprocal, which a number below the normal ones does not have.
float inverse_of(float absmax) { return 1.0F / std::max(absmax, 1e-38F); }

float greatest_of(const float* x, std::int64_t n) {
  float greatest = 0;
  for (std::int64_t i = 0; i < n; ++i) greatest = std::max(greatest, std::fabs(x[i]));
  return greatest;
}

/// The code of x within ±1: so many midpoints between values lie below it.
std::uint8_t nf4_code(float x) {
  int code = 0;
  for (std::size_t k = 0; k + 1 < nf4_values.size(); ++k) code += x > (nf4_values[k] + nf4_values[k + 1]) / 2 ? 1 : 0;
  return static_cast<std::uint8_t>(code);
}

/// That of the nearest of 256 values, and of two that are as near the even one; 0 of 0 times infinity: as bitsandbytes'
/// kernels on GPUs have it.
std::uint8_t dynamic_code(float x) {
  const auto above = std::lower_bound(dynamic_values.begin() + 1, dynamic_values.end() - 1, x) - dynamic_values.begin();
  const auto at = static_cast<std::size_t>(above);
  const float middle = (dynamic_values[at - 1] + dynamic_values[at]) * 0.5F;
  const bool rounds_up = x > middle || (x == middle && at % 2 == 0);
  return static_cast<std::uint8_t>(rounds_up ? at : at - 1);
}

/// One nested block of scales.
void quantize_nested(const float* absmax, std::int64_t n, float offset, std::uint8_t* to, float* nested_absmax) {
  float above[nested_block];
  for (std::int64_t i = 0; i < n; ++i) above[i] = absmax[i] - offset;
  *nested_absmax = greatest_of(above, n);
  const float inverse = 1.0F / *nested_absmax;
  for (std::int64_t i = 0; i < n; ++i) to[i] = dynamic_code(above[i] * inverse);
}

/// Products and sums each in a loop of its own, so that no compiler contracts them.
void dequantize_nested(const std::uint8_t* absmax, std::int64_t n, float nested_absmax, float offset, float* to) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = dynamic_values[absmax[i]] * nested_absmax;
  for (std::int64_t i = 0; i < n; ++i) to[i] += offset;
}

void read_block(View values, std::int64_t b, float* to) {
  in_element_type(values.dtype, [&]<class E>() {
    for (std::int64_t i = 0; i < block; ++i) to[i] = static_cast<float>(widen(values.as<E>()[b * block + i]));
  });
}

void quantize_block(const float* values, std::uint8_t* codes, float* absmax) {
  *absmax = greatest_of(values, block);
  const float inverse = inverse_of(*absmax);
  for (std::int64_t i = 0; i < block; i += 2)
    codes[i / 2] = static_cast<std::uint8_t>(nf4_code(values[i] * inverse) << 4 | nf4_code(values[i + 1] * inverse));
}

}  // namespace

MONOMORPH_PER_ISA(void dequantize_nf4_blocks(const std::uint8_t* codes, const float* absmax, std::int64_t n_blocks,
                                             View values, std::int64_t first))

void quantize_absmax(Queue, View absmax, const Nf4Matrix& to) {
  const std::int64_t n = absmax.elements();
  const auto* const from = absmax.as<float>();
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(from[i]);
  const auto offset = static_cast<float>(sum / static_cast<double>(n));
  *to.offset.as<float>() = offset;
  for (std::int64_t first = 0; first < n; first += nested_block)
    quantize_nested(from + first, std::min(nested_block, n - first), offset, to.absmax.as<std::uint8_t>() + first,
                    to.nested_absmax.as<float>() + first / nested_block);
}

void quantize_nf4(Queue queue, View values, const Nf4Matrix& to) {
  const KernelSpan span(Work::elementwise, "quantize_nf4");
  const std::int64_t n_blocks = values.elements() / block;
  std::vector<float> absmax(static_cast<std::size_t>(n_blocks));
  parallel_for(nested_blocks_of(n_blocks), [&](std::int64_t nested) {
    float elements[block];
    for (std::int64_t b = nested * nested_block; b < std::min((nested + 1) * nested_block, n_blocks); ++b) {
      read_block(values, b, elements);
      quantize_block(elements, to.codes.as<std::uint8_t>() + b * block / 2, &absmax[static_cast<std::size_t>(b)]);
    }
  });
  quantize_absmax(queue, {reinterpret_cast<std::byte*>(absmax.data()), DType::fp32, {1, n_blocks}}, to);
}

void dequantize_nf4(Queue, const Nf4Matrix& from, View values) {
  const KernelSpan span(Work::elementwise, "dequantize_nf4");
  const std::int64_t n_blocks = from.absmax.elements();
  parallel_for(nested_blocks_of(n_blocks), [&](std::int64_t nested) {
    const std::int64_t first = nested * nested_block, n = std::min(nested_block, n_blocks - first);
    float absmax[nested_block];
    dequantize_nested(from.absmax.as<std::uint8_t>() + first, n, from.nested_absmax.as<float>()[nested],
                      *from.offset.as<float>(), absmax);
    MONOMORPH_SELECT(dequantize_nf4_blocks)
    (from.codes.as<std::uint8_t>() + first * block / 2, absmax, n, values, first * block);
  });
}

}  // namespace monomorph::cpu
