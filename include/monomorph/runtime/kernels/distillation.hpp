#pragma once
#include <monomorph/core/divergence.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>

namespace monomorph {

/// Logits of C tokens by two models, of the same vocabulary.
struct TaughtLogits {
  TokenLogits student;
  View teacher_CV;  ///< of the dtype of the student's logits, which is that of the losses
  View metrics_4C;  ///< gets a row of each of the objective's metrics, of the same dtype; 0 of ignored tokens
};

struct DistillationTerms {
  Divergence divergence = Divergence::forward_kl;
  double temperature = 1, teacher_weight = 0.5;
};

}  // namespace monomorph

namespace monomorph::cpu {

/// Of each token (1 - w) times its cross-entropy, plus w T² times the divergence of the two models' distributions at
/// temperature T, with the gradient by the student's logits. The metrics are its cross-entropy, the divergence, the
/// teacher's cross-entropy, and 1 if both have the greatest logit at the same place. Padding counts for nothing.
void distillation_loss(Queue, const TaughtLogits& logits, const DistillationTerms& terms);

}  // namespace monomorph::cpu
