// NF4 with double quantisation against bitsandbytes, byte for byte (tests/fixtures/nf4).
#include <cmath>
#include <cstring>
#include <monomorph/runtime/files/safetensors.hpp>
#include <monomorph/runtime/kernels/nf4.hpp>
#include <set>
#include <string>
#include "kernel_case.hpp"
#include "runtime/kernels/elements.hpp"
#include "runtime/kernels/nf4_values.hpp"
#include "support/catch.hpp"

namespace nf4_test {

using namespace monomorph;
using namespace monomorph::testing;

namespace {

using Bytes = std::vector<std::byte>;

const runtime::SafetensorsFile& fixture() {
  static const auto file =
      runtime::SafetensorsFile::open(MONOMORPH_SOURCE_DIR "/tests/fixtures/nf4/matrices.safetensors");
  return file;
}
Bytes bytes_of(const std::string& name) {
  const runtime::TensorEntry& entry = fixture().at(name);
  const std::byte* const data = fixture().data(entry);
  return {data, data + (entry.end - entry.begin)};
}
Bytes bytes_of(const View& view) { return {view.data, view.data + view.bytes()}; }
View view_of(Bytes& bytes, DType dtype) { return {bytes.data(), dtype, {1, std::ssize(bytes) / size_of(dtype)}}; }
DType dtype_of(const std::string& name) {
  return fixture().at(name).dtype == runtime::FileDType::bf16 ? DType::bf16 : DType::fp32;
}

/// A matrix in NF4 of zeros.
struct Quantized {
  explicit Quantized(std::int64_t elements) : places(layout, elements), bytes(layout.elements) {
    matrix = Nf4Matrix(View(bytes.data(), DType::u8, {1, layout.elements}), places);
  }
  Layout layout;
  Nf4Places places;
  Bytes bytes;
  Nf4Matrix matrix;
};
Quantized quantized(View values) {
  Quantized result(values.elements());
  cpu::quantize_nf4({}, values, result.matrix);
  return result;
}
/// What a GPU's bitsandbytes would have saved.
Quantized as_saved(const std::string& name) {
  const Bytes codes = bytes_of(name + ".weight");
  Quantized result(2 * std::ssize(codes));
  const auto put = [](const Bytes& from, const View& to) { std::memcpy(to.data, from.data(), from.size()); };
  put(codes, result.matrix.codes);
  put(bytes_of(name + ".weight.absmax"), result.matrix.absmax);
  put(bytes_of(name + ".weight.nested_absmax"), result.matrix.nested_absmax);
  const Bytes state = bytes_of(name + ".weight.quant_state.bitsandbytes__nf4");
  const std::string text(reinterpret_cast<const char*>(state.data()), state.size());
  *result.matrix.offset.as<float>() = std::stof(text.substr(text.find("\"nested_offset\": ") + 17));
  return result;
}
Bytes dequantized(const Nf4Matrix& matrix, DType dtype) {
  Bytes bytes(matrix.elements() * size_of(dtype));
  cpu::dequantize_nf4({}, matrix, view_of(bytes, dtype));
  return bytes;
}

}  // namespace

TEST_CASE("the values of codes are those of bitsandbytes") {
  CHECK(std::memcmp(nf4_values.data(), bytes_of("normal.weight.quant_map").data(), sizeof(nf4_values)) == 0);
  CHECK(std::memcmp(dynamic_values.data(), bytes_of("normal.weight.nested_quant_map").data(), sizeof(dynamic_values)) ==
        0);
}

TEST_CASE("matrices in NF4 have the bytes of bitsandbytes") {
  for (const std::string name : {"normal", "rounded", "three_nested_blocks", "ties"}) {
    CAPTURE(name);
    Bytes values = bytes_of(name + ".values");
    const Quantized actual = quantized(view_of(values, dtype_of(name + ".values"))), expected = as_saved(name);
    CHECK(bytes_of(actual.matrix.codes) == bytes_of(expected.matrix.codes));
    CHECK(bytes_of(actual.matrix.absmax) == bytes_of(expected.matrix.absmax));
    CHECK(bytes_of(actual.matrix.nested_absmax) == bytes_of(expected.matrix.nested_absmax));
    CHECK(bytes_of(actual.matrix.offset) == bytes_of(expected.matrix.offset));
  }
}

TEST_CASE("of the largest and the least numbers the codes are those of bitsandbytes") {
  Bytes values = bytes_of("extremes.values");
  const Quantized actual = quantized(view_of(values, DType::fp32)), expected = as_saved("extremes");
  CHECK(bytes_of(actual.matrix.codes) == bytes_of(expected.matrix.codes));
}

TEST_CASE(
    "the numbers that are made of NF4 are those of bitsandbytes, on every instruction set and number of threads") {
  for_each_isa([](const char* isa) {
    for (const std::string name : {"normal", "rounded", "three_nested_blocks", "one_block", "ties", "extremes"}) {
      CAPTURE(isa, name);
      const Quantized saved = as_saved(name);
      CHECK(dequantized(saved.matrix, DType::fp32) == bytes_of(name + ".fp32"));
      CHECK(dequantized(saved.matrix, DType::bf16) == bytes_of(name + ".bf16"));
    }
  });
  const Quantized saved = as_saved("three_nested_blocks");
  for (const int threads : {1, 2, 3})
    with_threads(threads, [&] {
      CHECK(dequantized(saved.matrix, DType::fp32) == bytes_of("three_nested_blocks.fp32"));
      Bytes values = bytes_of("three_nested_blocks.values");
      CHECK(quantized(view_of(values, DType::bf16)).bytes == saved.bytes);
    });
}

TEST_CASE("numbers made of NF4 are the same in fp64, and rounded once to fp16") {
  const Quantized saved = as_saved("normal");
  Bytes fp32 = dequantized(saved.matrix, DType::fp32), fp64 = dequantized(saved.matrix, DType::fp64),
        fp16 = dequantized(saved.matrix, DType::fp16);
  for (std::int64_t i = 0; i < saved.matrix.elements(); ++i) {
    const float value = view_of(fp32, DType::fp32).as<float>()[i];
    CHECK(view_of(fp64, DType::fp64).as<double>()[i] == static_cast<double>(value));
    Half nearest;
    narrow(value, nearest);
    CHECK(view_of(fp16, DType::fp16).as<Half>()[i].bits == nearest.bits);
  }
}

TEST_CASE("a block of zeros stays one, whatever becomes of its scale") {
  Bytes values = bytes_of("extremes.values");
  const Quantized actual = quantized(view_of(values, DType::fp32));
  Bytes numbers = dequantized(actual.matrix, DType::fp32);
  for (std::int64_t i = 0; i < Nf4Places::block; ++i) CHECK(view_of(numbers, DType::fp32).as<float>()[i] == 0);
}

TEST_CASE(
    "a scale is the nearest of 256 values, and of two as near the even one, as bitsandbytes' kernels on GPUs have it") {
  // Two scales, whose mean is 0: ± 1 is the greatest, and a middle between two values lies beside it.
  for (std::size_t k = 0; k + 1 < dynamic_values.size(); ++k) {
    const float middle = (dynamic_values[k] + dynamic_values[k + 1]) * 0.5F;
    std::vector<float> scales{1, middle, -1, -middle};
    Quantized to(std::ssize(scales) * Nf4Places::block);
    cpu::quantize_absmax({}, {reinterpret_cast<std::byte*>(scales.data()), DType::fp32, {1, 4}}, to.matrix);
    CAPTURE(k);
    CHECK(*to.matrix.offset.as<float>() == 0);
    CHECK(std::to_integer<int>(to.matrix.absmax.data[0]) == 255);
    CHECK(std::to_integer<std::size_t>(to.matrix.absmax.data[1]) == (k % 2 == 0 ? k : k + 1));
    CHECK(std::to_integer<int>(to.matrix.absmax.data[2]) == 0);
  }
}

}  // namespace nf4_test
