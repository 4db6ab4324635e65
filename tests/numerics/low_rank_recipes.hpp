#pragma once
#include <monomorph/finetuning/low_rank.hpp>

/// Low-rank adapters of every option.
namespace monomorph::testing {

inline constexpr LowRankTargets all_targets{
    .query = true, .key = true, .value = true, .output = true, .gate = true, .up = true, .down = true};
inline constexpr LowRankTargets but_gate{
    .query = true, .key = true, .value = true, .output = true, .up = true, .down = true};
inline constexpr LowRankSpec everywhere{.rank = 3, .alpha = 5, .targets = all_targets},
    dropped_everywhere{.rank = 2, .alpha = 3, .dropout = 0.4, .targets = all_targets},
    everywhere_but_gate{.rank = 3, .alpha = 5, .targets = but_gate},
    stabilised{.rank = 4, .alpha = 3, .rank_stabilised = true, .dropout = 0.3, .targets = but_gate},
    queries_and_values{.rank = 1, .alpha = 1, .dropout = 0.5};

template <class R, LowRankSpec spec> struct Adapted : R { using finetuning = finetuning::LowRank<spec>; };

}  // namespace monomorph::testing
