#pragma once
#include <cstdint>
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph::kernels {

/// Sums over the counted tokens, in fp64 and in the order of the rows.
struct LossSum {
  double loss = 0;  ///< nats
  std::int64_t tokens = 0;
};

/// Softmax cross-entropy of C tokens. Columns from vocab_size on are padding with logit -inf: their probability and
/// gradient are zero. If dlogits is present it gets softmax - one-hot (zero rows for ignored targets), not divided by
/// the number of tokens, times `scale`; it may be logits itself, or of a narrower dtype. loss_C: each token's loss (0
/// if ignored).
LossSum cross_entropy(View logits_CV, const std::int32_t* targets_C, std::int64_t vocab_size, View loss_C,
                      View dlogits_CV, double scale = 1);

}  // namespace monomorph::kernels
