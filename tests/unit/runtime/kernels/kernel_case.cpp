#include "kernel_case.hpp"
#include <c10/util/Float8_e4m3fn.h>
#include <c10/util/Float8_e5m2.h>
#include <c10/util/Half.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include "runtime/machine/isa.hpp"
#include "support/catch.hpp"

extern "C" void omp_set_num_threads(int);
extern "C" int omp_get_max_threads(void);

namespace monomorph::testing {
namespace {

constexpr auto gap_byte = std::byte{0x5A};

double load(const View& view, std::int64_t at) {
  switch (view.dtype) {
    case DType::fp32:
      return view.as<float>()[at];
    case DType::fp64:
      return view.as<double>()[at];
    case DType::fp16:
      return static_cast<float>(view.as<c10::Half>()[at]);
    case DType::e4m3:
      return static_cast<float>(view.as<c10::Float8_e4m3fn>()[at]);
    case DType::e5m2:
      return static_cast<float>(view.as<c10::Float8_e5m2>()[at]);
    case DType::u8:
      return view.as<std::uint8_t>()[at];
    case DType::bf16:
      break;
  }
  return std::bit_cast<float>(static_cast<std::uint32_t>(view.as<std::uint16_t>()[at]) << 16);
}
void store(const View& view, std::int64_t at, double value) {
  switch (view.dtype) {
    case DType::fp32:
      view.as<float>()[at] = static_cast<float>(value);
      break;
    case DType::fp64:
      view.as<double>()[at] = value;
      break;
    case DType::fp16:
      view.as<c10::Half>()[at] = static_cast<c10::Half>(static_cast<float>(value));
      break;
    case DType::e4m3:
      view.as<c10::Float8_e4m3fn>()[at] = static_cast<c10::Float8_e4m3fn>(static_cast<float>(value));
      break;
    case DType::e5m2:
      view.as<c10::Float8_e5m2>()[at] = static_cast<c10::Float8_e5m2>(static_cast<float>(value));
      break;
    case DType::u8:
      view.as<std::uint8_t>()[at] = static_cast<std::uint8_t>(value);
      break;
    case DType::bf16:
      view.as<std::uint16_t>()[at] = static_cast<std::uint16_t>(
          std::bit_cast<std::uint32_t>(static_cast<float>(rounded(value, DType::bf16))) >> 16);
      break;
  }
}

struct Run {
  std::vector<Storage> outputs;
};

/// One call. The inputs' values are rounded to `rounding` before they are stored in the dtypes of `compute`.
Run run_once(const KernelCase& kernel, DType compute, DType rounding, std::int64_t gap) {
  std::vector<Storage> inputs;
  Run result;
  std::vector<View> in, out;
  const auto rounded_matrix = [&](Matrix matrix, Role role) {
    for (double& value : matrix.values) value = rounded(value, dtype_of(role, rounding));
    return matrix;
  };
  for (const Input& input : kernel.inputs) {
    inputs.emplace_back(rounded_matrix(input.matrix, input.role), dtype_of(input.role, compute), gap);
  }
  for (const Output& output : kernel.outputs) {
    const auto& [rows, cols, values] = output.expected;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const Matrix before =
        output.before.empty() ? filled(rows, cols, nan) : rounded_matrix({rows, cols, output.before}, output.role);
    result.outputs.emplace_back(before, dtype_of(output.role, compute), gap);
  }
  for (const Storage& storage : inputs) in.push_back(storage.view());
  for (const Storage& storage : result.outputs) out.push_back(storage.view());
  kernel.run(in, out);
  for (const Storage& storage : inputs) CHECK(storage.gap_untouched());
  for (const Storage& storage : result.outputs) CHECK(storage.gap_untouched());
  return result;
}

/// Within one rounding of what the fp32 run gave.
bool is_rounding_of(const Values& coarse, const Values& fine, DType dtype) {
  const double half_unit = dtype == DType::fp16 ? 0x1p-11 : 0x1p-8, least = dtype == DType::fp16 ? 0x1p-25 : 0;
  double scale = 0;
  for (const double value : fine) scale = std::max(scale, std::fabs(value));
  for (std::size_t i = 0; i < fine.size(); ++i) {
    if (!(std::fabs(coarse[i] - fine[i]) <= half_unit * std::fabs(fine[i]) + 1e-5 * scale + least)) return false;
  }
  return true;
}

void check_values(const KernelCase& kernel, std::int64_t gap) {
  const Run fp64 = run_once(kernel, DType::fp64, DType::fp64, gap);
  const Run fp64_of_fp32 = run_once(kernel, DType::fp64, DType::fp32, gap);
  const Run fp32 = run_once(kernel, DType::fp32, DType::fp32, gap);
  for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
    CAPTURE(i);
    if (kernel.outputs[i].expected.values.empty()) continue;
    CHECK(relative_error(fp64.outputs[i].values(), kernel.outputs[i].expected.values) <= kernel.tolerance);
    CHECK(relative_error(fp32.outputs[i].values(), fp64_of_fp32.outputs[i].values()) <= kernel.fp32_tolerance);
  }
  for (const DType coarse : {DType::bf16, DType::fp16}) {
    const Run fine = run_once(kernel, DType::fp32, coarse, gap), rounded = run_once(kernel, coarse, coarse, gap);
    CAPTURE(name_of(coarse));
    for (std::size_t i = 0; i < kernel.outputs.size(); ++i) {
      if (kernel.outputs[i].expected.values.empty()) continue;
      CHECK(is_rounding_of(rounded.outputs[i].values(), fine.outputs[i].values(), coarse));
    }
  }
}

void check_threads(const KernelCase& kernel) {
  for (const DType compute : {DType::fp32, DType::bf16, DType::fp16}) {
    Run one;
    with_threads(1, [&] { one = run_once(kernel, compute, compute, 0); });
    for (const int threads : {2, 3}) {
      CAPTURE(threads, name_of(compute));
      with_threads(threads, [&] {
        const Run many = run_once(kernel, compute, compute, 0);
        for (std::size_t i = 0; i < one.outputs.size(); ++i) CHECK(one.outputs[i].bytes() == many.outputs[i].bytes());
      });
    }
  }
}
}  // namespace

DType dtype_of(Role role, DType compute) {
  return role == Role::activation ? compute : compute == DType::fp64 ? DType::fp64 : DType::fp32;
}

void check(const KernelCase& kernel) {
  for_each_isa([&](const char* isa) {
    CAPTURE(isa);
    for (const std::int64_t gap : {0, 5}) {
      CAPTURE(gap);
      check_values(kernel, gap);
    }
    check_threads(kernel);
  });
}

Storage::Storage(const Matrix& matrix, DType dtype, std::int64_t gap)
    : bytes_(static_cast<std::size_t>(matrix.rows * (matrix.cols + gap) * size_of(dtype)), gap_byte),
      view_(bytes_.data(), dtype, {matrix.rows, matrix.cols}, matrix.cols + gap) {
  if (matrix.rows == 0) {
    view_ = View{};
    return;
  }
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(matrix.values.size()); ++i) {
    store(view_, i / matrix.cols * view_.stride + i % matrix.cols, matrix.values[static_cast<std::size_t>(i)]);
  }
}

Values Storage::values() const {
  Values values;
  for (std::int64_t row = 0; row < view_.shape.rows; ++row) {
    for (std::int64_t col = 0; col < view_.shape.cols; ++col) values.push_back(load(view_, row * view_.stride + col));
  }
  return values;
}

bool Storage::gap_untouched() const {
  const std::int64_t width = size_of(view_.dtype), row_bytes = view_.stride * width, used = view_.shape.cols * width;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(bytes_.size()); ++i) {
    if (i % row_bytes >= used && bytes_[static_cast<std::size_t>(i)] != gap_byte) return false;
  }
  return true;
}

std::vector<std::int32_t> growing_documents(std::int64_t rows, std::int64_t tokens) {
  std::vector<std::int32_t> starts;
  std::int32_t length = 0, left = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto t = static_cast<std::int32_t>(row % tokens);
    const bool begins = t == 0 || left == 0;
    if (begins) left = ++length;
    --left;
    starts.push_back(begins ? t : starts.back());
  }
  return starts;
}

Matrix random_matrix(std::int64_t rows, std::int64_t cols, unsigned seed) {
  std::mt19937 generator(seed);
  Matrix matrix{rows, cols, Values(static_cast<std::size_t>(rows * cols))};
  for (double& value : matrix.values) {
    // The sum of four uniform numbers in (-1, 1).
    value = -4;
    for (int i = 0; i < 4; ++i) value += static_cast<double>(generator()) * 0x1p-31;
  }
  return matrix;
}
Matrix filled(std::int64_t rows, std::int64_t cols, double value) {
  return {rows, cols, Values(static_cast<std::size_t>(rows * cols), value)};
}
Matrix shape_only(std::int64_t rows, std::int64_t cols) { return {rows, cols, {}}; }

double rounded(double value, DType dtype) {
  if (dtype == DType::fp64) return value;
  const auto single = static_cast<float>(value);
  if (dtype == DType::fp32 || !std::isfinite(single)) return single;
  if (dtype == DType::fp16) return static_cast<float>(static_cast<c10::Half>(single));
  // bf16 keeps 8 significant bits; halves go to the even neighbour, as nearbyint does it.
  int exponent;
  const double fraction = std::frexp(single, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(fraction, 8)), exponent - 8);
}

double relative_error(const Values& a, const Values& b) {
  if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
  double difference = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return difference == 0 ? 0 : std::sqrt(difference / size);
}

void for_each_isa(const std::function<void(const char* name)>& f) {
  using detail::Isa;
  const Isa widest = detail::active_isa();
  for (const auto& [isa, name] : {std::pair{Isa::generic, "generic"}, {Isa::avx2, "avx2"}, {Isa::avx512, "avx512"}}) {
    if (!detail::processor_has(isa)) continue;
    detail::use_isa(isa);
    f(name);
  }
  detail::use_isa(widest);
}

void with_threads(int threads, const std::function<void()>& f) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  f();
  omp_set_num_threads(before);
}

}  // namespace monomorph::testing
