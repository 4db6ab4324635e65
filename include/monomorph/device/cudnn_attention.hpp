#pragma once
#include <cstdint>
#include <monomorph/core/extremes.hpp>
#include <monomorph/spec/attention_mask.hpp>

/// What attention cuDNN takes, and the memory that it then asks for: the plan counts it, and who calls cuDNN divides
/// its calls by it.
namespace monomorph::device {

/// The sizes of one call of attention.
struct AttentionExtent {
  std::int64_t batch, tokens, heads, kv_heads, head_dim;
  friend constexpr bool operator==(const AttentionExtent&, const AttentionExtent&) = default;
};

/// cuDNN knows masks that are bands about the diagonal, and so none in which the first queries see further ahead than
/// others.
constexpr bool is_band(const AttentionMask& mask, std::int64_t tokens) {
  return mask.prefix <= mask.after + 1 || tokens <= mask.after + 1;
}

/// Elements of 16 bits are understood. cuDNN reads 16 bytes at a time, and has no gradients of a row of one token.
constexpr bool cudnn_takes(const AttentionExtent& of, const AttentionMask& mask) {
  return of.tokens > 1 && of.head_dim % 8 == 0 && of.head_dim <= 128 && is_band(mask, of.tokens);
}

/// What cuDNN 9.19 asks for on GPUs of the Hopper kind for gradients that are the same each time: 16 bits for each pair
/// of a query and a key in tiles of 64 by 128, a number for each query, and where query heads share a key head 32 bits
/// for each of their features. GPUs of the Ampere kind have tiles of 64 by 64 and ask for no more. From 9.25 on it
/// needs less. `tests/gpu/cudnn_plans/cudnn_plans_test.cpp` compares it with cuDNN.
constexpr std::int64_t cudnn_gradient_bytes(const AttentionExtent& of) {
  const auto in_multiples = [](std::int64_t n, std::int64_t size) { return (n + size - 1) / size * size; };
  const std::int64_t sequences = of.batch * of.heads;
  const std::int64_t pairs = 2 * sequences * in_multiples(of.tokens, 64) * in_multiples(of.tokens, 128);
  const std::int64_t shared = of.heads == of.kv_heads ? 0 : 4 * sequences * of.tokens * of.head_dim;
  return pairs + in_multiples(shared, 256) + 4 * sequences * of.tokens + 256;
}

/// Gradients are computed in parts that ask for no more than this where that can be.
inline constexpr std::int64_t most_attention_workspace_bytes = std::int64_t{5} << 28;

/// One of the parts of equal size in which gradients are computed that would ask for so many bytes: some samples, or
/// some heads of one sample. All of it where one is enough, or where it can not be divided.
constexpr AttentionExtent gradient_part(AttentionExtent of, std::int64_t bytes) {
  const std::int64_t parts = (bytes + most_attention_workspace_bytes - 1) / most_attention_workspace_bytes;
  const bool rows_begin_accesses = 4 * of.tokens % 16 == 0;  // those of the statistic, of which a part has some
  if (parts <= 1 || !rows_begin_accesses) return of;
  const std::int64_t group = of.heads / of.kv_heads;
  std::int64_t& n = of.batch > 1 ? of.batch : of.kv_heads;
  std::int64_t size = larger_of(n / parts, 1);
  while (n % size != 0) --size;
  n = size;
  of.heads = group * of.kv_heads;
  return of;
}

/// What gradients ask for when they are computed in parts.
constexpr std::int64_t cudnn_workspace_bytes(const AttentionExtent& of) {
  const std::int64_t bytes = cudnn_gradient_bytes(of);
  const AttentionExtent part = gradient_part(of, bytes);
  return part == of ? bytes : cudnn_workspace_bytes(part);
}

}  // namespace monomorph::device
