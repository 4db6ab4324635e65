#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <span>

namespace monomorph::cpu {

/// sum = parts[0] + parts[1] + … over flat views, added to what sum holds if accumulate. The terms are joined as a
/// binary counter counts, ((0 + 1) + (2 + 3)) + …, in fp32 (fp64 if sum is), so aligned groups of 2^k terms may be
/// summed before, elsewhere, without a bit of difference. sum may be one of the parts; dtypes may differ.
void pairwise_sum(Queue, std::span<const View> parts, View sum, bool accumulate);

inline constexpr int most_pairwise_parts = 1 << 16;

}  // namespace monomorph::cpu
