#include <monomorph/runtime/kernels/step_scalars.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/kernels/step_arithmetic.hpp"

namespace monomorph::cpu {

void begin_step(Queue, StepScalars* scalars, std::span<std::int64_t> counters) {
  const KernelSpan span(Work::optimizer, "begin_step");
  start_step(*scalars, counters.data(), std::ssize(counters));
}
void begin_micro_batch(Queue, StepScalars* scalars) {
  const KernelSpan span(Work::optimizer, "begin_micro_batch");
  start_micro_batch(*scalars);
}
void end_micro_batch(Queue, StepScalars* scalars) {
  const KernelSpan span(Work::optimizer, "end_micro_batch");
  add_micro_batch(*scalars);
}
void keep_metrics(Queue, StepScalars* scalars) {
  const KernelSpan span(Work::optimizer, "keep_metrics");
  scalars->micro_batch.metrics = scalars->unused.metrics;
}
void write_step_words(Queue, StepScalars* scalars, const StepSettings& settings, const StepWords& to) {
  const KernelSpan span(Work::optimizer, "write_step_words");
  write_words(*scalars, settings, to);
}
void read_step_words(Queue, StepScalars* scalars, const StepWords& from) {
  const KernelSpan span(Work::optimizer, "read_step_words");
  read_words(*scalars, from);
}
void decide_step(Queue, StepScalars* scalars, const StepSettings& settings, bool has_auxiliary_loss) {
  const KernelSpan span(Work::optimizer, "decide_step");
  decide(*scalars, settings, has_auxiliary_loss);
}

}  // namespace monomorph::cpu
