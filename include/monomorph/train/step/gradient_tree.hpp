#pragma once
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/pairwise_sum.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// Adds up the gradients of micro-batches in a tree that the number of ranks does not change: as a binary counter
/// counts, so that after i micro-batches level k holds the sum of 2^k of them where bit k of i is set. The ranks' own
/// sums are the tree's lowest joints (pairwise_sum), as micro-batches go round the ranks.
/// @param gradient of the micro-batch `accumulation_step`; after the last one, of all
/// @param level of a number, a flat view like gradient
void add_to_tree(auto queue, View gradient, AccumulationStep accumulation_step, const auto& level) {
  const auto join = [&](int k) {
    const View terms[] = {level(k), gradient};
    pairwise_sum(queue, terms, gradient, false);
  };
  const auto has = [&](int k) { return (accumulation_step.index >> k & 1) != 0; };
  int k = 0;
  for (; has(k); ++k) join(k);
  if (!accumulation_step.last()) return copy(queue, gradient, level(k));
  for (; accumulation_step.index >> k != 0; ++k)
    if (has(k)) join(k);
}

}  // namespace monomorph::train
