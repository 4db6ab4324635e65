#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include "runtime/cuda/host/before_run.hpp"
#include "runtime/cuda/launch/launch.hpp"
#include "runtime/kernels/step_arithmetic.hpp"

/// One thread of one block does what lies between the kernels of a step.
namespace monomorph::cuda {
namespace {

constexpr unsigned one = 1;

__global__ void step_begins(StepScalars* scalars, std::int64_t* counters, std::int64_t n_counters) {
  start_step(*scalars, counters, n_counters);
}
__global__ void micro_batch_begins(StepScalars* scalars) { start_micro_batch(*scalars); }
__global__ void micro_batch_ends(StepScalars* scalars) { add_micro_batch(*scalars); }
__global__ void metrics_stay(StepScalars* scalars) { scalars->micro_batch.metrics = scalars->unused.metrics; }

OfRun<StepSettings> of_run(Queue queue, const StepSettings& settings) {
  return {settings, is_recorded(queue) ? read_before_run(&settings) : nullptr};
}

__global__ void words_are_written(StepScalars* scalars, OfRun<StepSettings> settings, StepWords to) {
  write_words(*scalars, settings.now(), to);
}
__global__ void words_are_read(StepScalars* scalars, StepWords from) { read_words(*scalars, from); }
__global__ void step_ends(StepScalars* scalars, OfRun<StepSettings> settings, bool has_auxiliary_loss) {
  decide(*scalars, settings.now(), has_auxiliary_loss);
}

}  // namespace

void begin_step(Queue queue, StepScalars* scalars, std::span<std::int64_t> counters) {
  const KernelSpan span(Work::optimizer, "begin_step", queue.stream);
  launch(step_begins, {one, one}, queue, scalars, counters.data(), static_cast<std::int64_t>(counters.size()));
}
void begin_micro_batch(Queue queue, StepScalars* scalars) {
  const KernelSpan span(Work::optimizer, "begin_micro_batch", queue.stream);
  launch(micro_batch_begins, {one, one}, queue, scalars);
}
void end_micro_batch(Queue queue, StepScalars* scalars) {
  const KernelSpan span(Work::optimizer, "end_micro_batch", queue.stream);
  launch(micro_batch_ends, {one, one}, queue, scalars);
}
void keep_metrics(Queue queue, StepScalars* scalars) {
  const KernelSpan span(Work::optimizer, "keep_metrics", queue.stream);
  launch(metrics_stay, {one, one}, queue, scalars);
}
void write_step_words(Queue queue, StepScalars* scalars, const StepSettings& settings, const StepWords& to) {
  const KernelSpan span(Work::optimizer, "write_step_words", queue.stream);
  launch(words_are_written, {one, one}, queue, scalars, of_run(queue, settings), to);
}
void read_step_words(Queue queue, StepScalars* scalars, const StepWords& from) {
  const KernelSpan span(Work::optimizer, "read_step_words", queue.stream);
  launch(words_are_read, {one, one}, queue, scalars, from);
}
void decide_step(Queue queue, StepScalars* scalars, const StepSettings& settings, bool has_auxiliary_loss) {
  const KernelSpan span(Work::optimizer, "decide_step", queue.stream);
  launch(step_ends, {one, one}, queue, scalars, of_run(queue, settings), has_auxiliary_loss);
}

}  // namespace monomorph::cuda
