#pragma once
#include <monomorph/device/cudnn_attention.hpp>
#include <monomorph/spec/attention_mask.hpp>

#include <compare>
#include <optional>

namespace monomorph::cuda {

/// A mask as cuDNN has it: bounds about the diagonal that begins in the corner of query 0 and key 0. What is beyond the
/// row has no bound.
struct AttentionBand {
  /// A query sees the keys with key + left > query. The bound counts the query's own token, which AttentionMask::before
  /// does not, so it is before + 1.
  std::optional<int> left;
  /// And those with key <= query + right. The bound does not count the query's own token, as AttentionMask::after does
  /// not.
  std::optional<int> right;

  auto operator<=>(const AttentionBand&) const = default;
};

/// None of a mask in which the first queries see further ahead than others.
inline std::optional<AttentionBand> band_of(const AttentionMask& mask, std::int64_t tokens) {
  if (!device::is_band(mask, tokens)) return std::nullopt;
  AttentionBand band;
  if (mask.before + 1 < tokens) band.left = static_cast<int>(mask.before) + 1;
  if (mask.after + 1 < tokens) band.right = static_cast<int>(mask.after);
  return band;
}

}  // namespace monomorph::cuda
