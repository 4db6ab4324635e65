#include "emulator/gpu_case.hpp"

#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/nf4.hpp>

#include <cstring>

namespace monomorph::emulator {
namespace {

/// A matrix in NF4, behind bytes of another.
struct Quantized {
  explicit Quantized(const Matrix& values) {
    Layout layout;
    layout.take({1, 64});
    const Nf4Places places(layout, values.rows * values.cols);
    bytes.resize(static_cast<std::size_t>(layout.elements));
    matrix = Nf4Matrix(View(bytes.data(), DType::u8, {1, layout.elements}), places);
    const Storage numbers(values, DType::fp32);
    cpu::quantize_nf4(cpu_queue, writable(numbers), matrix);
  }
  std::vector<std::byte> bytes;
  Nf4Matrix matrix;
};

}  // namespace

TEST_CASE("numbers made of NF4 have the bits of the CPU", "[nf4]") {
  for (const auto& [rows, cols] : {std::pair{1, 64}, {3, 64}, {130, 256}, {7, 2'432}}) {
    const Quantized quantized(random_matrix(rows, cols, 1));
    for (const DType dtype : all_dtypes) {
      CAPTURE(rows, cols, name_of(dtype));
      check_same_bits(
          {}, {Storage(filled(rows, cols, 7), dtype)},
          [&](const auto&, const auto& out) { cuda::dequantize_nf4(gpu_queue, quantized.matrix, out[0]); },
          [&](const auto&, const auto& out) { cpu::dequantize_nf4(cpu_queue, quantized.matrix, out[0]); });
    }
  }
}

}  // namespace monomorph::emulator
