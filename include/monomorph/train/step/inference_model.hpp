#pragma once
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// A model that is only used: its parameters in the dtype that it computes in, and nothing of training.
class InferenceModel : public HostAccess {
 public:
  virtual std::vector<StateTensor> parameters() = 0;
  virtual Owned<TokenPass> token_pass(const PassSizes& sizes) = 0;  ///< valid as long as the model is
};

}  // namespace monomorph::train
