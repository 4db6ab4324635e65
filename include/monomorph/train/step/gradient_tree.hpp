#pragma once
#include <functional>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// Adds up the gradients of micro-batches in a tree that the number of ranks does not change: as a binary counter
/// counts, so that after i micro-batches level k holds the sum of 2^k of them where bit k of i is set. The ranks' own
/// sums are the tree's lowest joints (kernels::pairwise_sum), as micro-batches go round the ranks.
/// @param gradient of the micro-batch `accumulation_step`; after the last one, of all   @param level flat views like
/// gradient
void add_to_tree(View gradient, AccumulationStep accumulation_step, const std::function<View(int)>& level);

}  // namespace monomorph::train
