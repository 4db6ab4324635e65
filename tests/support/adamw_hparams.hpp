#pragma once
#include <monomorph/train/hparams/hparams.hpp>

namespace monomorph::testing {

/// The optimiser's own hyperparameters, where it is AdamW.
inline optim::AdamW::Hparams& adamw(train::Hparams& hparams) {
  return hparams.optimizer.policy.as<optim::AdamW::Hparams>();
}
inline const optim::AdamW::Hparams& adamw(const train::Hparams& hparams) {
  return hparams.optimizer.policy.as<optim::AdamW::Hparams>();
}

}  // namespace monomorph::testing
