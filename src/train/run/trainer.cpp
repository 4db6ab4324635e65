#include <monomorph/train/run/trainer.hpp>

#include "train/describe/batch_partition.hpp"
#include "train/describe/run_memory.hpp"
#include "train/run/fitting_step.hpp"
#include "train/run/folder/run_ownership.hpp"
#include "train/run/moving_average.hpp"
#include "train/run/ranks/config_consistency.hpp"
#include "train/run/ranks/connect_data_parallel.hpp"
#include "train/run/ranks/peer_failure.hpp"
#include "train/run/resumed_state.hpp"
#include "train/run/run_observer.hpp"
#include "train/run/saving/best_counter.hpp"
#include "train/run/saving/run_saver.hpp"
#include "train/run/spike_guard.hpp"
#include "train/run/start.hpp"
#include "train/run/step_reports.hpp"
#include "train/step/loss_scale.hpp"
#include "train/step/step_settings.hpp"

#include <monomorph/core/error.hpp>
#include <monomorph/core/interruption.hpp>
#include <monomorph/core/quantity_text.hpp>
#include <monomorph/data/loading/batch_prefetcher.hpp>
#include <monomorph/plan/schedule.hpp>
#include <monomorph/runtime/comm/together.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/runtime/files/checkpoint_folder.hpp>
#include <monomorph/train/run/saving/run_checkpoint.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <chrono>
#include <cmath>

namespace monomorph::train {
namespace {

class Trainer {
 public:
  /// @param ownership rank 0's
  Trainer(const RecipeProgram& recipe, const World& world, const ParallelGroups& groups, Communicator& communicator,
          std::optional<RunOwnership> ownership, Start start, std::int64_t traced_steps, int argc, char** argv);
  int run();
  const Hparams& hparams() const { return hparams_; }
  std::string moment() const { return fmt::format("{} {}", moment_.at_what, moment_.step); }  ///< "in step 7"

 private:
  void train_step();
  Ticket forward_backward();
  MicroBatch next_batch();
  void count(const StepOutcome& outcome);
  void go_back();
  void goes_on_from(const std::string& checkpoint);
  void check_data_lasts(const RunState& from) const;
  void drop_later(std::int64_t step);
  void put_scalars();
  void evaluate_now();
  std::optional<double> value_of_best(const std::vector<NamedEvaluation>& results) const;
  void save();
  void save_last() { save_last(state_, retention_of(recipe_, hparams_)); }
  void save_last(const RunState& state, const runtime::Retention& retention);
  RunSaver::Order order_to_save(const RunState& state, const runtime::Retention& retention);
  void advance_save();
  int run_to_end();
  bool may_save() const;
  bool save_is_due() const;
  [[noreturn]] void stop_skipping();
  bool due(const OptionalCount& every) const { return every && state_.step % *every == 0; }
  void note(const std::string& line) {
    if (log_) log_->note(line);
  }

  const RecipeProgram& recipe_;
  const Hparams hparams_;
  const World& world_;
  const plan::Schedule order_;  ///< of this rank's micro-batches through its stage of the model
  const std::optional<std::string> resumed_from_;
  const RunData data_;
  Communicator& communicator_;
  const LossScaling loss_scaling_;
  const SpikeGuard spike_guard_;
  const std::optional<runtime::BestCounter> best_;  ///< by which the best checkpoint is kept
  RunState state_;
  StepTracer tracer_;  // outlives step_, whose destructor waits for collectives that are traced
  Owned<TrainingStep> step_;
  MovingAverage average_;
  RunState last_good_ = state_;  ///< after the last step that was not skipped: the parameters and moments are of it
  data::BatchPrefetcher batches_;
  std::vector<MicroBatch> in_flight_;    ///< between forward and backward
  std::optional<RunObserver> observer_;  ///< the recipe's, if it has one
  // Members whose construction may fail are above, because the log writes into the run folder.
  std::optional<RunLog> log_;  ///< rank 0's
  StepReports reports_;
  double data_wait_seconds_ = 0;   ///< of this step
  bool stops_ = false;             ///< a rank was asked to end
  bool saves_ = false;             ///< a checkpoint is due, whatever the step is
  bool spiked_ = false;            ///< the last step was a spike
  bool all_have_written_ = false;  ///< of the checkpoint in flight
  std::int64_t last_evaluated_ = -1;
  /// By best_: the last evaluation of this run, on all ranks alike, and rank 0's of the checkpoint which the run goes
  /// on from, if there is a finite one. A state that is saved anew is still what its checkpoint was told to be.
  std::optional<double> evaluation_, evaluation_loaded_;
  std::int64_t loaded_step_ = -1;
  struct Moment {
    const char* at_what = "before step";
    std::int64_t step = 1;
  } moment_;
  std::optional<RunSaver> saver_;  // last, as a checkpoint in flight looks at the log until it ends
};

/// Ranks take micro-batches in turn, so that those which lie side by side in the data are added up first, whatever the
/// number of ranks.
data::BatchPrefetcher read_ahead(const data::Loader& loader, const RunState& state, const Hparams& hparams,
                                 const RankGroup& data_parallel, std::int64_t in_flight) {
  const std::int64_t micro_batch = micro_batch_of(hparams);
  return {loader, state.samples + data_parallel.rank_in_group * micro_batch, micro_batch,
          data_parallel.size() * micro_batch, in_flight};
}

Trainer::Trainer(const RecipeProgram& recipe, const World& world, const ParallelGroups& groups,
                 Communicator& communicator, std::optional<RunOwnership> ownership, Start start,
                 std::int64_t traced_steps, int argc, char** argv)
    : recipe_(recipe),
      hparams_(std::move(start.hparams)),
      world_(world),
      order_{micro_batches_per_rank(hparams_, groups.data.size()), groups.stages.rank_in_group, groups.stages.size()},
      resumed_from_(std::move(start.resume.checkpoint)),
      data_(std::move(start.data)),
      communicator_(communicator),
      loss_scaling_(loss_scaling_of(recipe.compute_dtype, hparams_.loss_scale)),
      spike_guard_(hparams_.spikes),
      best_(best_counter(recipe, hparams_)),
      state_(start.state),
      tracer_(communicator, state_.step, traced_steps, hparams_.run.output_dir.value),
      step_(std::move(start.step)),
      average_(*step_),
      batches_(read_ahead(data_.train, state_, hparams_, groups.data, order_.in_flight())),
      in_flight_(order_.in_flight()),
      observer_(RunObserver::of(recipe, hparams_, communicator, state_.step)),
      reports_(recipe, hparams_, world, groups, order_.micro_batches, *step_, tracer_, communicator) {
  put_scalars();
  step_->record_steps(hparams_.run.record_steps.value);
  if (world.rank() == 0)
    log_.emplace(std::move(*ownership), hparams_, recipe, resumed_from_, state_.step, data_.described, world.size(),
                 argc, argv);
  saver_.emplace(recipe_, hparams_, data_.train_files, *step_, std::move(start.staged), communicator_,
                 log_ ? &*log_ : nullptr);
  note(fmt::format("{}: {} parameters, {}{}, run folder {}", recipe.name,
                   format_count(static_cast<double>(recipe.n_params)),
                   planned_text(planned_memory(recipe, hparams_, groups.data.size())),
                   world.size() == 1 ? "" : fmt::format(" on each of {} ranks", world.size()),
                   hparams_.run.output_dir.value));
  for (const std::string& line : start.resume.notes) note(line);
  if (resumed_from_) {
    goes_on_from(*resumed_from_);
    note(fmt::format("resumed after step {} from {}", state_.step, *resumed_from_));
  }
  const std::int64_t product_table = step_->device_use().product_table;
  if (resumed_from_ && product_table != state_.product_table)
    note(
        "its products were computed by another table of algorithms: bits may differ from those of a run that was not "
        "interrupted");
  state_.product_table = product_table;
  if (state_.step >= hparams_.run.steps.value)
    note(fmt::format("nothing is left to train: run.steps = {}", hparams_.run.steps.value));
}

/// What a step goes on with from a checkpoint, beside its tensors.
void Trainer::put_scalars() {
  step_->change_scalars([&](StepScalars& scalars) {
    scalars.loss_scale = {state_.loss_scale, state_.steps_at_scale};
    scalars.updates = state_.updates;
  });
}

/// A checkpoint in flight is not lost with what ends the run. Where there are several ranks, only a failure that all of
/// them have can wait for it: the functions that throw one do.
int Trainer::run() {
  try {
    return run_to_end();
  } catch (const RankFailure&) {
    throw;
  } catch (const Error&) {
    if (communicator_.size() == 1) saver_->wait_and_note();
    throw;
  }
}

int Trainer::run_to_end() {
  if (world_.size() == 1) stops_ = interrupting_signal() != 0;
  while (state_.step < hparams_.run.steps.value && !stops_) {
    if (const auto line = tracer_.step_begins(reports_.is_logged(state_.step + 2))) note(*line);
    train_step();
    if (spiked_ && spike_guard_.goes_back()) go_back();
    if (all_have_written_) reports_.throughput().take_time(Throughput::Excluded::checkpoint, [&] { advance_save(); });
    if (due(hparams_.evaluation.every.value))
      reports_.throughput().take_time(Throughput::Excluded::evaluation, [&] { evaluate_now(); });
    if (save_is_due() && may_save() && state_.step < hparams_.run.steps.value)
      reports_.throughput().take_time(Throughput::Excluded::checkpoint, [&] { save(); });
    if (world_.size() == 1) stops_ = interrupting_signal() != 0;
  }
  if (const auto line = tracer_.run_ends()) note(*line);
  if (stops_)
    note(fmt::format("{}: saving after step {}",
                     interrupting_signal() != 0 ? fmt::format("signal {}", interrupting_signal())
                                                : "a signal to another rank",
                     state_.step));
  save_last();
  if (stops_)
    return state_.step < hparams_.run.steps.value ? static_cast<int>(hparams_.failure.exit_code_when_interrupted.value)
                                                  : 0;
  if (hparams_.evaluation.at_end.value) evaluate_now();
  if (saves_) save_last();
  if (log_) log_->finish();
  return 0;
}

void Trainer::train_step() {
  moment_ = {"in step", state_.step + 1};
  reports_.throughput().step_began();
  const Ticket ticket = forward_backward();
  const ScheduledRate rate = hparams_.schedule.rate(state_.step, hparams_.run.steps.value);
  const double lr = rate.of(recipe_.peak_rate(hparams_.optimizer.policy)), loss_scale = state_.loss_scale;
  if (observer_) observer_->see(state_.step + 1, ticket, lr, *step_);
  step_->update(hparams_.optimizer.policy, update_settings(hparams_.optimizer.clip, rate, state_.step + 1));
  tracer_.step_ends();
  if (const std::string line = step_->take_recording_note(); !line.empty()) note(line);
  const StepOutcome outcome = step_->read(ticket);
  reports_.throughput().step_ended(hparams_.batch.global_batch * recipe_.model->context_length, data_wait_seconds_);
  count(outcome);
  reports_.report({outcome, lr, loss_scale, saver_->failed()}, state_, log_ ? &*log_ : nullptr);
  if (state_.skipped_in_a_row == 0) last_good_ = state_;
  if (state_.skipped_in_a_row > hparams_.failure.max_skipped_in_a_row.value) stop_skipping();
}

Ticket Trainer::forward_backward() {
  data_wait_seconds_ = 0;
  for (std::int64_t i = 0; i < order_.size(); ++i) {
    const auto [pass, index] = order_[i];
    MicroBatch& batch = in_flight_[index % order_.in_flight()];
    const AccumulationStep accumulation_step{index, order_.micro_batches};
    if (pass == plan::PassKind::forward) {
      batch = next_batch();
      step_->forward(batch, static_cast<std::uint64_t>(state_.step), accumulation_step);
    } else {
      step_->backward(batch, static_cast<std::uint64_t>(state_.step), accumulation_step);
    }
  }
  StepSettings settings = step_settings(hparams_.optimizer.clip, loss_scaling_);
  settings.stops = interrupting_signal() != 0;
  settings.saves = saver_->speaks_up(state_.step);
  spike_guard_.set_limits(state_.spike_levels, settings);
  return step_->decide(settings);
}

MicroBatch Trainer::next_batch() {
  const StreamSpan span = tracer_.waiting_for_data();
  const data::BatchPrefetcher::Batch batch = batches_.next();
  data_wait_seconds_ += batches_.last_wait_seconds();
  return {batch.inputs_BT.data(), batch.targets_BT.data(), static_cast<std::uint64_t>(batch.first_sample),
          batch.document_starts_BT.empty() ? nullptr : batch.document_starts_BT.data(),
          batch.reference_BK.empty() ? nullptr : batch.reference_BK.data()};
}

void Trainer::count(const StepOutcome& outcome) {
  if (outcome.tokens == 0 && hparams_.loss.on_empty_batch.value == OnEmptyBatch::error) {
    saver_->wait_and_note();
    throw Error("RUN-06", fmt::format("none of the {} of the global batch of step {} is counted; mend the data, or set "
                                      "loss.on_empty_batch=skip",
                                      recipe_.objective.counted(), state_.step + 1));
  }
  ++state_.step;
  state_.samples += hparams_.batch.global_batch;
  state_.tokens += outcome.tokens;
  stops_ = outcome.stops;
  spiked_ = outcome.spiked;
  all_have_written_ = saver_->in_flight() && !outcome.saves;
  saves_ = saves_ || (outcome.saves && !saver_->in_flight());
  if (outcome.applied) {
    ++state_.updates;
    state_.skipped_in_a_row = 0;
  } else if (outcome.tokens > 0) {
    ++state_.skipped;
    if (outcome.spiked || !can_lower(state_.loss_scale, loss_scaling_)) ++state_.skipped_in_a_row;
  }
  if (outcome.spiked)
    note(fmt::format("step {} is a spike and changes nothing: {}", state_.step,
                     spike_guard_.description(outcome, state_.spike_levels)));
  spike_guard_.add(outcome, state_.spike_levels);
  state_.loss_scale = outcome.next_loss_scale.value;
  state_.steps_at_scale = outcome.next_loss_scale.steps;
}

/// Saves the state after the last step that changed anything. That step may itself be what went wrong, so no earlier
/// checkpoint is deleted.
void Trainer::stop_skipping() {
  note(fmt::format("{} steps in a row were skipped: keeping the state after step {}", state_.skipped_in_a_row,
                   last_good_.step));
  save_last(last_good_, {});
  throw Error(
      "RUN-05",
      fmt::format("the gradients of {} steps in a row, up to step {}, were not finite{}; the state after step "
                  "{}, the last that changed anything, is saved: go on from it or from an earlier checkpoint, with a "
                  "lower optimizer.lr",
                  state_.skipped_in_a_row, state_.step, spike_guard_.is_on() ? ", or were spikes" : "",
                  last_good_.step));
}

/// To the last checkpoint that is whole, but for the data: what was drawn since is not drawn again. Without a
/// checkpoint the step that was a spike is only skipped.
void Trainer::go_back() {
  moment_ = {"going back after step", state_.step};
  if (state_.rewinds == hparams_.spikes.most_rewinds.value) {
    saver_->wait_and_note();
    throw Error("RUN-40", fmt::format("step {} is a spike again after the run has gone back {} times; lower "
                                      "optimizer.lr, raise spikes.sigmas or spikes.most_rewinds, or set "
                                      "spikes.action=skip, and go on by checkpoint.resume=auto",
                                      state_.step, state_.rewinds));
  }
  saver_->wait();
  all_have_written_ = false;  // of a checkpoint in flight, of which there is none now
  auto earlier = load_earlier(recipe_, hparams_, world_, *step_, communicator_, state_.samples);
  if (!earlier) return note("there is no checkpoint yet to go back to");
  earlier->state.samples = state_.samples;
  earlier->state.rewinds = state_.rewinds + 1;
  earlier->state.product_table = state_.product_table;
  earlier->state.teacher = state_.teacher;
  check_data_lasts(earlier->state);
  note(fmt::format("going back to step {} by {}, and on with the data behind the spike", earlier->state.step,
                   earlier->path));
  state_ = last_good_ = earlier->state;
  goes_on_from(earlier->path);
  last_evaluated_ = state_.step;  // as when a run is resumed: what was due after that step belongs to the past
  evaluation_.reset();
  saves_ = false;
  put_scalars();
  saver_->go_back(state_.step);
  together(communicator_, "go back in the run's folders", [this] { drop_later(state_.step); });
  observer_.reset();
  if (auto observer = RunObserver::of(recipe_, hparams_, communicator_, state_.step))
    observer_.emplace(std::move(*observer));
}

void Trainer::goes_on_from(const std::string& checkpoint) {
  loaded_step_ = state_.step;
  saver_->set_best(state_.best_evaluation);
  evaluation_loaded_ = log_ && best_ ? evaluation_of(checkpoint, *best_) : std::nullopt;  // rank 0 writes it
}

/// A step that is done again draws samples of its own, which the run was not long enough for when it began.
void Trainer::check_data_lasts(const RunState& from) const try {
  data_.check_epochs(from, hparams_);
} catch (const UsageError& failure) {  // the run's length was right when it began, so this is no wrong usage
  throw Error(failure.id(), fmt::format("the run can't go back to step {} behind a spike: {}; or set "
                                        "spikes.action=skip, and go on by checkpoint.resume=auto",
                                        from.step, failure.text()));
}

/// Checkpoints of later steps, which were passed over because they are damaged, and records. Rank 0's.
void Trainer::drop_later(std::int64_t step) {
  if (!log_) return;
  log_->check_ownership();
  if (const auto aside = runtime::set_aside_later(checkpoint_folder(hparams_), step))
    note(fmt::format("the checkpoints of later steps, which this run does not go on from, are now in {}", *aside));
  log_->go_back(step);
}

/// Skipped steps changed nothing, and saving after each would in the end delete the last good checkpoint.
bool Trainer::may_save() const { return state_.skipped_in_a_row == 0; }

bool Trainer::save_is_due() const {
  return due(hparams_.checkpoint.every.value) || due(hparams_.checkpoint.keep_every.value) || saves_ ||
         saver_->must_repeat();
}

/// By what the best checkpoint is chosen; absent if it is no number by which one could be.
std::optional<double> Trainer::value_of_best(const std::vector<NamedEvaluation>& results) const {
  const std::string& name = hparams_.checkpoint.best_by.value;
  const auto meant = std::ranges::find(results, name, &NamedEvaluation::name);
  const EvaluationResult& result = (meant == results.end() ? results.front() : *meant).result;
  const double value = result.metric(hparams_.checkpoint.best_metric.value);
  return result.tokens > 0 && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

void Trainer::evaluate_now() {
  if (data_.held_out.empty() || last_evaluated_ == state_.step) return;
  last_evaluated_ = state_.step;
  moment_ = {"evaluating after step", state_.step};
  OptionalCount micro_batches = hparams_.evaluation.batches.value;
  if (micro_batches) *micro_batches *= hparams_.batch.global_batch / micro_batch_of(hparams_);
  std::vector<NamedEvaluation> results;
  average_.used_by(state_.updates, [&] {
    results = evaluate_sets(recipe_, *step_, communicator_, data_.held_out, micro_batch_of(hparams_),
                            data_.bytes_per_token, micro_batches);
  });
  if (log_) log_->evaluation(state_.step, results);
  if (!best_) return;
  evaluation_ = value_of_best(results);
  if (!evaluation_ || !saver_->would_be_best(*evaluation_)) return;
  if (!may_save() && state_.step < hparams_.run.steps.value) return;  // no checkpoint would have what was evaluated
  saves_ = true;
}

RunSaver::Order Trainer::order_to_save(const RunState& state, const runtime::Retention& retention) {
  std::optional<double> evaluated, loaded;
  if (state.step == last_evaluated_) evaluated = evaluation_;
  if (state.step == loaded_step_) loaded = evaluation_loaded_;
  return {state, retention, evaluated ? evaluated : loaded, std::exchange(saves_, false), evaluated};
}

void Trainer::save() {
  moment_ = {"saving the checkpoint of step", state_.step};
  saver_->save(order_to_save(state_, retention_of(recipe_, hparams_)));
}

void Trainer::save_last(const RunState& state, const runtime::Retention& retention) {
  moment_ = {"saving the checkpoint of step", state.step};
  saver_->save_last(order_to_save(state, retention));
}

void Trainer::advance_save() {
  moment_ = {"completing a checkpoint after step", state_.step};
  all_have_written_ = false;
  saver_->advance();
}

/// The communicator has memory of its own on a device, as for gradients on their way.
Owned<Communicator> connect_for_run(const RecipeProgram& recipe, const Hparams& hparams, const World& world,
                                    int ranks) try {
  return connect_data_parallel(recipe, hparams, world);
} catch (const UsageError& refusal) {
  if (!is_refused_memory(refusal)) throw;
  throw with_memory_advice(refusal, recipe, hparams, ranks);
}

}  // namespace

int train(const RecipeProgram& recipe, const Hparams& hparams, const Records& records, int argc, char** argv) {
  const World world = connect(std::chrono::seconds(hparams.failure.rank_timeout));
  const ParallelGroups groups = world.groups(recipe.mesh);
  check_ranks(recipe, hparams, groups.data.size());
  check_config_consistency(world, recipe, hparams);
  const auto communicator = connect_for_run(recipe, hparams, world, groups.data.size());
  // From here on, as data and checkpoint are read, and until the process has ended: an interrupted run can be resumed,
  // and a signal that comes when everything is saved must not make the run fail on its way out.
  [[maybe_unused]] static const InterruptionGuard& guard = *new InterruptionGuard;
  std::optional<Trainer> trainer;
  try {
    auto ownership =
        together(*communicator, "take the run's folders", [&] { return acquire_run_folders(hparams, world); });
    Start start = together(*communicator, "begin", [&] {
      return start_run(recipe, hparams, world, *communicator, records.memory_snapshot_file);
    });
    check_same_checkpoint(*communicator, start.resume.checkpoint);
    trainer.emplace(recipe, world, groups, *communicator, std::move(ownership), std::move(start), records.traced_steps,
                    argc, argv);
    return trainer->run();
  } catch (const RankFailure& failure) {  // before the trainer's destructor, which would wait for ever
    exit_on_peer_failure(world, failure, trainer ? trainer->moment() : "before the first step");
  } catch (const UsageError& refusal) {  // of memory that a device takes when it is first used, as for code of kernels
    if (!trainer || !is_refused_memory(refusal)) throw;
    const Hparams of_run = trainer->hparams();
    trainer.reset();
    const UsageError advised = with_memory_advice(refusal, recipe, of_run, groups.data.size());
    throw Error(advised.id(), advised.text());  // not a UsageError, as the run had begun
  }
}

}  // namespace monomorph::train
