#include "train/rank_work.hpp"

#include <monomorph/plan/memory.hpp>

namespace monomorph::train {

std::int64_t micro_batches_per_rank(const Hparams& hparams, int ranks) {
  return hparams.batch.global_batch / (hparams.batch.micro_batch * ranks);
}

int tree_levels(const Hparams& hparams, int ranks) {
  const bool in_tree = hparams.batch.reduction.value == ReductionOrder::fixed_tree;
  return in_tree ? plan::tree_levels(micro_batches_per_rank(hparams, ranks)) : 0;
}

}  // namespace monomorph::train
