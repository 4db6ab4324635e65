#include <monomorph/runtime/kernels/step_scalars.hpp>

#include "runtime/kernels/step_arithmetic.hpp"

namespace monomorph::cpu {

void begin_step(Queue, StepScalars* scalars, std::span<std::int64_t> counters) {
  start_step(*scalars, counters.data(), std::ssize(counters));
}
void begin_micro_batch(Queue, StepScalars* scalars) { start_micro_batch(*scalars); }
void end_micro_batch(Queue, StepScalars* scalars) { add_micro_batch(*scalars); }
void keep_metrics(Queue, StepScalars* scalars) { scalars->micro_batch.metrics = scalars->unused.metrics; }
void write_step_words(Queue, StepScalars* scalars, const StepSettings& settings, const StepWords& to) {
  write_words(*scalars, settings, to);
}
void read_step_words(Queue, StepScalars* scalars, const StepWords& from) { read_words(*scalars, from); }
void decide_step(Queue, StepScalars* scalars, const StepSettings& settings, bool has_auxiliary_loss,
                 std::uint64_t number) {
  decide(*scalars, settings, has_auxiliary_loss, number);
}

}  // namespace monomorph::cpu
