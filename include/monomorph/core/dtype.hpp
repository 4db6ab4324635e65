#pragma once
#include <cstdint>
#include <string_view>

namespace monomorph {

/// Element types of buffers. fp64 is for tests: the whole step runs in it.
enum class DType : std::uint8_t { fp32, bf16, fp64, fp16 };

constexpr std::int64_t size_of(DType dtype) { return dtype == DType::fp64 ? 8 : dtype == DType::fp32 ? 4 : 2; }
constexpr std::string_view name_of(DType dtype) {
  constexpr std::string_view names[] = {"fp32", "bf16", "fp64", "fp16"};
  return names[static_cast<int>(dtype)];
}
/// Statistics, rotary tables, log-sum-exps and losses of a computation in `compute`: fp32 at least.
constexpr DType statistics_dtype(DType compute) { return compute == DType::fp64 ? DType::fp64 : DType::fp32; }

}  // namespace monomorph
