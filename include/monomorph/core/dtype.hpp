#pragma once
#include <cstdint>
#include <string_view>

namespace monomorph {

/// Element types of buffers. fp64 is for tests: the whole step runs in it. The two of 8 bits are those of Micikevicius
/// et al. 2022, e4m3 without infinities: factors of products alone have them, each with a scale beside it
/// (docs/reference/fp8.md). u8 is for bytes that mean
/// something only together, as the codes of matrices in NF4 (docs/reference/lora.md): no kernel of numbers takes them.
enum class DType : std::uint8_t { fp32, bf16, fp64, fp16, e4m3, e5m2, u8 };

/// Bytes of an element. A dtype that is added is an error here until it has a size and a name.
constexpr std::int64_t size_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return 8;
    case DType::fp32:
      return 4;
    case DType::bf16:
    case DType::fp16:
      return 2;
    case DType::e4m3:
    case DType::e5m2:
    case DType::u8:
      return 1;
  }
  __builtin_unreachable();
}
constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::fp64:
      return "fp64";
    case DType::fp32:
      return "fp32";
    case DType::bf16:
      return "bf16";
    case DType::fp16:
      return "fp16";
    case DType::e4m3:
      return "e4m3";
    case DType::e5m2:
      return "e5m2";
    case DType::u8:
      return "u8";
  }
  __builtin_unreachable();
}
/// Statistics, rotary tables, log-sum-exps and losses of a computation in `compute`: fp32 at least.
constexpr DType statistics_dtype(DType compute) { return compute == DType::fp64 ? DType::fp64 : DType::fp32; }

}  // namespace monomorph
