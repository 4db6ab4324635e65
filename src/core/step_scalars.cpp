#include <monomorph/core/step_scalars.hpp>

namespace monomorph {

void StepScalars::begin_step() {
  loss = auxiliary_loss = {};
  tokens = 0;
  metrics = {};
  gradient_norm = {};
}

void StepScalars::begin_micro_batch() {
  micro_batch = unused = {};
  auxiliary = 0;
}

void StepScalars::end_micro_batch() {
  loss.add(micro_batch.loss);
  tokens += micro_batch.tokens;
  for (std::size_t i = 0; i < metrics.size(); ++i) metrics[i].add(micro_batch.metrics[i]);
  auxiliary_loss.add(auxiliary * static_cast<double>(micro_batch.tokens));
}

}  // namespace monomorph
