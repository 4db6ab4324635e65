#include <monomorph/train/trainer.hpp>

#include "train/beginning.hpp"
#include "train/optimizer_step.hpp"
#include "train/run_data.hpp"
#include "train/throughput.hpp"
#include "train/with_advice.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/core/process_memory.hpp>
#include <monomorph/data/batch_prefetcher.hpp>
#include <monomorph/train/describe.hpp>
#include <monomorph/train/evaluation.hpp>
#include <monomorph/train/metrics.hpp>
#include <monomorph/train/progress.hpp>
#include <monomorph/train/run_checkpoint.hpp>
#include <monomorph/train/run_folder.hpp>
#include <monomorph/train/schedule.hpp>
#include <monomorph/train/tensorboard.hpp>

#include <fmt/format.h>
#include <unistd.h>
#include <limits>
#include <new>

namespace monomorph::train {
namespace {

class Trainer {
 public:
  Trainer(const RecipeProgram& recipe, const Hparams& hparams, Beginning beginning, int argc, char** argv);
  int run();

 private:
  void train_step();
  kernels::LossSum forward_backward(const data::BatchPrefetcher::Batch& batch);
  void apply(kernels::LossSum loss);
  void report(double loss, double lr, std::optional<double> grad_norm);
  void measure_rates(std::int64_t steps_left);
  void log(double loss, double lr, std::optional<double> grad_norm);
  void evaluate_now();
  void save() { save(state_, hparams_.checkpoint.keep.value); }
  void save(const RunState& state, OptionalCount keep);
  [[noreturn]] void stop_skipping();
  bool due(const OptionalCount& every) const { return every && state_.step % *every == 0; }

  const RecipeProgram& recipe_;
  const Hparams hparams_;
  const std::optional<std::string> resumed_from_;
  RunData data_;
  std::unique_ptr<Communicator> communicator_;
  std::unique_ptr<TrainingStep> step_;
  RunState state_;
  RunState last_good_ = state_;  ///< after the last step that was not skipped: the parameters and moments are of it
  data::BatchPrefetcher batches_;
  // What can fail is above, for what follows leaves a run folder behind.
  const InterruptionGuard guard_;  // from before the run folder exists: a run that was interrupted can be resumed
  RunFolder folder_;
  MetricsWriter metrics_;
  std::optional<EventWriter> events_;
  Progress progress_;
  Throughput throughput_;
  Throughput::Rates rates_;
  std::int64_t peak_memory_bytes_ = 0;
  std::int64_t last_saved_ = -1, last_evaluated_ = -1;
};

std::unique_ptr<TrainingStep> make_step(const RecipeProgram& recipe, const Hparams& hparams,
                                        Communicator& communicator) {
  return with_advice("lower batch.micro_batch, or let the recipe's checkpointing recompute more", [&] {
    return recipe.make_step(communicator, hparams.batch.micro_batch,
                            static_cast<std::uint64_t>(hparams.run.seed.value));
  });
}

RunState initial_state(const RecipeProgram& recipe, const std::optional<std::string>& checkpoint, const RunData& data,
                       TrainingStep& step) {
  if (!checkpoint) return {};
  data.check_same_files(*checkpoint);
  return restore_run(*checkpoint, recipe, step, true).state;
}

data::BatchPrefetcher read_ahead(const data::Loader& loader, const RunState& state, const Hparams& hparams) {
  const std::int64_t batch = hparams.batch.global_batch;
  try {
    return data::BatchPrefetcher(loader, state.samples, batch, batch);
  } catch (const std::bad_alloc&) {  // of what check_memory can't see, such as a limit of the shell
    throw UsageError(
        fmt::format("[RUN-16] the system refuses the memory for batches of batch.global_batch = {}; lower "
                    "batch.global_batch",
                    batch));
  }
}

Trainer::Trainer(const RecipeProgram& recipe, const Hparams& hparams, Beginning beginning, int argc, char** argv)
    : recipe_(recipe),
      hparams_(hparams),
      resumed_from_(std::move(beginning.checkpoint)),
      data_(recipe, hparams),
      communicator_(connect()),
      step_(make_step(recipe, hparams, *communicator_)),
      state_(initial_state(recipe, resumed_from_, data_, *step_)),
      batches_(read_ahead(data_.train, state_, hparams)),
      folder_(hparams, recipe, resumed_from_, data_.all_files, argc, argv),
      metrics_(resumed_from_ ? MetricsWriter::resume(folder_.file("metrics.jsonl"), state_.step)
                             : MetricsWriter::create(folder_.file("metrics.jsonl"))),
      progress_(STDOUT_FILENO, hparams.log.every.value),
      throughput_(recipe.flops, recipe.compute_dtype) {
  const bool repeats_steps = resumed_from_ || folder_.held_a_run();
  if (hparams.log.tensorboard.value)
    events_.emplace(folder_.file(""), repeats_steps ? std::optional(state_.step + 1) : std::nullopt);
  progress_.note(fmt::format("{}: {} parameters, {} planned, run folder {}", recipe.name,
                             format_count(static_cast<double>(recipe.n_params)),
                             format_bytes(recipe.memory(1, hparams.batch.micro_batch.value).total()),
                             hparams.run.output_dir.value));
  for (const std::string& note : beginning.notes) progress_.note(note);
  if (resumed_from_) progress_.note(fmt::format("resumed after step {} from {}", state_.step, *resumed_from_));
  if (state_.step >= hparams.run.steps.value)
    progress_.note(fmt::format("nothing is left to train: run.steps = {}", hparams.run.steps.value));
}

int Trainer::run() {
  while (state_.step < hparams_.run.steps.value && interrupting_signal() == 0) {
    train_step();
    if (due(hparams_.evaluation.every.value)) evaluate_now();
    // Skipped steps changed nothing, and saving after each would in the end delete the last good checkpoint.
    if (due(hparams_.checkpoint.every.value) && state_.skipped_in_a_row == 0) save();
  }
  if (const int number = interrupting_signal(); number != 0) {
    progress_.note(fmt::format("signal {}: saving after step {}", number, state_.step));
    save();
    return 0;
  }
  save();
  if (hparams_.evaluation.at_end.value) evaluate_now();
  progress_.finish();
  return 0;
}

void Trainer::train_step() {
  throughput_.step_began();
  const data::BatchPrefetcher::Batch batch = batches_.next();
  const kernels::LossSum loss = forward_backward(batch);
  state_.samples += hparams_.batch.global_batch.value;
  if (loss.tokens == 0 && hparams_.loss.on_empty_batch.value == OnEmptyBatch::error)
    throw Error(
        fmt::format("[RUN-06] no token of the global batch of step {} is counted; mend the data, or set "
                    "loss.on_empty_batch=skip",
                    state_.step + 1));
  apply(loss);
}

kernels::LossSum Trainer::forward_backward(const data::BatchPrefetcher::Batch& batch) {
  const std::int64_t micro_batch = hparams_.batch.micro_batch.value, T = recipe_.model->context_length;
  kernels::LossSum sum;
  for (std::int64_t first = 0; first < hparams_.batch.global_batch.value; first += micro_batch) {
    const MicroBatch micro{batch.inputs_BT.data() + first * T, batch.targets_BT.data() + first * T,
                           static_cast<std::uint64_t>(state_.samples + first),
                           batch.document_starts_BT.empty() ? nullptr : batch.document_starts_BT.data() + first * T};
    const kernels::LossSum loss = step_->accumulate(micro, static_cast<std::uint64_t>(state_.step), first == 0);
    sum.loss += loss.loss;
    sum.tokens += loss.tokens;
  }
  return sum;
}

void Trainer::apply(kernels::LossSum loss) {
  const double lr =
      learning_rate(hparams_.schedule, hparams_.optimizer.lr.value, state_.step, hparams_.run.steps.value);
  OptimizerStepResult result;
  if (loss.tokens > 0) result = optimizer_step(*step_, hparams_.optimizer, lr, loss.tokens, state_.updates + 1);
  throughput_.step_ended(loss.tokens, batches_.last_wait_seconds());
  ++state_.step;
  state_.tokens += loss.tokens;
  if (result.applied) {
    ++state_.updates;
    state_.skipped_in_a_row = 0;
  } else if (loss.tokens > 0) {
    ++state_.skipped;
    ++state_.skipped_in_a_row;
  }
  const double mean =
      loss.tokens > 0 ? loss.loss / static_cast<double>(loss.tokens) : std::numeric_limits<double>::quiet_NaN();
  report(mean, lr, result.grad_norm);
  if (state_.skipped_in_a_row == 0) last_good_ = state_;
  if (state_.skipped_in_a_row > hparams_.failure.max_skipped_in_a_row.value) stop_skipping();
}

/// The last step that changed anything may itself be what went wrong, so no earlier checkpoint is deleted for it.
void Trainer::stop_skipping() {
  progress_.note(fmt::format("{} steps in a row were skipped: keeping the state after step {}", state_.skipped_in_a_row,
                             last_good_.step));
  save(last_good_, std::nullopt);
  throw Error(
      fmt::format("[RUN-05] the gradients of {} steps in a row, up to step {}, were not finite; the state after step "
                  "{}, the last that changed anything, is saved: go on from it or from an earlier checkpoint, with a "
                  "lower optimizer.lr",
                  state_.skipped_in_a_row, state_.step, last_good_.step));
}

/// The progress line hears of every step and decides what it shows; rates are those of the last interval of the log.
void Trainer::report(double loss, double lr, std::optional<double> grad_norm) {
  const std::int64_t left = hparams_.run.steps.value - state_.step;
  const bool logs = state_.step % hparams_.log.every.value == 0 || state_.step == 1 || left == 0;
  if (logs) measure_rates(left);
  progress_.step({.step = state_.step,
                  .total_steps = hparams_.run.steps.value,
                  .loss = loss,
                  .lr = lr,
                  .grad_norm = grad_norm,
                  .tokens_per_second = rates_.tokens_per_second,
                  .mfu = rates_.mfu,
                  .mfu_palm = rates_.mfu_palm,
                  .peak_memory_bytes = peak_memory_bytes_,
                  .data_wait_fraction = rates_.data_wait_fraction,
                  .seconds_left = rates_.seconds_left,
                  .skipped = state_.skipped});
  if (logs) log(loss, lr, grad_norm);
}

void Trainer::measure_rates(std::int64_t steps_left) {
  const bool knew_peak = throughput_.peak().has_value();
  rates_ = throughput_.report(steps_left);
  peak_memory_bytes_ = peak_resident_bytes();  // reads a file: not for every step
  if (const auto& peak = throughput_.peak(); peak && !knew_peak)
    progress_.note(fmt::format("MFU is relative to {} FLOP/s ({})", format_count(peak->per_second), peak->source));
}

void Trainer::log(double loss, double lr, std::optional<double> grad_norm) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  metrics_.write(state_.step, {{"loss", loss},
                               {"lr", lr},
                               {"grad_norm", grad_norm.value_or(nan)},
                               {"tokens", state_.tokens},
                               {"tokens_per_second", rates_.tokens_per_second},
                               {"mfu", rates_.mfu.value_or(nan)},
                               {"mfu_palm", rates_.mfu_palm.value_or(nan)},
                               {"peak_memory_bytes", peak_memory_bytes_},
                               {"data_wait_fraction", rates_.data_wait_fraction},
                               {"skipped", state_.skipped}});
  if (events_)
    events_->write(state_.step, {{"train/loss", loss},
                                 {"train/lr", lr},
                                 {"train/grad_norm", grad_norm.value_or(nan)},
                                 {"speed/tokens_per_second", rates_.tokens_per_second},
                                 {"speed/mfu", rates_.mfu.value_or(nan)},
                                 {"speed/data_wait_fraction", rates_.data_wait_fraction}});
}

void Trainer::evaluate_now() {
  if (!data_.evaluation || last_evaluated_ == state_.step) return;
  last_evaluated_ = state_.step;
  const std::int64_t micro_batch = hparams_.batch.micro_batch.value;
  OptionalCount micro_batches = hparams_.evaluation.batches.value;
  if (micro_batches) *micro_batches *= hparams_.batch.global_batch.value / micro_batch;
  const EvaluationResult result = evaluate(*step_, *data_.evaluation, micro_batch, recipe_.model->context_length,
                                           data_.bytes_per_token, micro_batches);
  progress_.note(fmt::format("evaluation after step {}: {}", state_.step, evaluation_text(result)));
  const double bits = result.bits_per_byte().value_or(std::numeric_limits<double>::quiet_NaN());
  metrics_.write(state_.step, {{"evaluation_loss", result.loss()},
                               {"evaluation_perplexity", result.perplexity()},
                               {"evaluation_bits_per_byte", bits},
                               {"evaluation_tokens", result.tokens}});
  if (events_)
    events_->write(state_.step, {{"evaluation/loss", result.loss()},
                                 {"evaluation/perplexity", result.perplexity()},
                                 {"evaluation/bits_per_byte", bits}});
}

void Trainer::save(const RunState& state, OptionalCount keep) {
  if (last_saved_ == state.step) return;
  last_saved_ = state.step;
  for (const std::string& warning :
       save_run(folder_.checkpoints(), keep, recipe_, hparams_, state, data_.train_files, *step_))
    progress_.note("warning: " + warning);
}

}  // namespace

int train(const RecipeProgram& recipe, const Hparams& hparams, int argc, char** argv) {
  validate(hparams, 1);
  return Trainer(recipe, hparams, begin(recipe, hparams), argc, argv).run();
}

}  // namespace monomorph::train
