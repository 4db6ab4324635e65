#pragma once
#include <monomorph/train/step/recorded_step.hpp>
#include <monomorph/train/step/step_access.hpp>

namespace monomorph::train {

/// A micro-batch on its way through the layers.
struct StepPass {
  const MicroBatch& batch;
  std::uint64_t step;
  bool training;
  AccumulationStep accumulation_step;
  const DropoutPass* of_run = nullptr;  ///< DropoutKey's
};

/// The calls of a step. Each gives the queue its part of the schedule, which Step has; or, where the device has
/// recorded a step like this one, they run what it has recorded.
template <Recipe R> class RecordableStep : public StepAccess<R> {
  using Queue = typename device_of<R>::Queue;
  using OptimizerHparams = typename R::optimizer::Hparams;

 public:
  using StepAccess<R>::StepAccess;

  /// What the queue was given, and collectives in flight, still use the arena and what was recorded, even after another
  /// unit failed.
  ~RecordableStep() override {
    for (int u = 0; u < this->n_units; ++u)
      unless_it_failed([&] {
        this->state_.collectives.wait(u);
        synchronize(this->state_.queue());
      });
  }

  /// Up to the last layer but one: the last makes the loss and its gradient at once, in backward.
  void forward(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) final {
    this->check(batch);
    if constexpr (records) {
      if (accumulation_step.first()) begin_recorded(accumulation_step.count);
      recorded_.keep(batch, step, accumulation_step.index, this->limits());
      if (recorded_.runs()) return;
    }
    enqueue_forward({batch, step, true, accumulation_step});
  }
  /// From the last layer down to the lowest one that is trained.
  void backward(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) final {
    if constexpr (records)
      if (recorded_.runs()) return;
    enqueue_backward({batch, step, true, accumulation_step});
  }
  Ticket decide(const StepSettings& settings) final {
    const Ticket ticket = this->decision_.note(settings);
    if constexpr (records)
      if (recorded_.runs()) {
        settle();
        recorded_.run_to_decision(this->comm_);
        return ticket;
      }
    enqueue_decision(settings.norm);
    return ticket;
  }
  void update(const PolicyHparams& policy_hparams, const UpdateSettings& settings) final {
    const auto& hparams = policy_hparams.as<OptimizerHparams>();
    const UpdateTerms terms{.decision = &this->state_.scalars.get()->decision,
                            .clip_value = settings.clip_value,
                            .rate_times = settings.rate_times,
                            .rate_over = settings.rate_over};
    if constexpr (records)
      if (recorded_.runs()) return recorded_.run_update(this->comm_, {settings.rate_times, settings.rate_over});
    enqueue_update(hparams, terms);
    if constexpr (records)
      if (recorded_.is_due()) record(hparams, terms);
  }

  void record_steps(bool wanted) final {
    if constexpr (records) recorded_.use(wanted);
  }
  std::string take_recording_note() final {
    if constexpr (records)
      return recorded_.take_note();
    else
      return {};
  }

 protected:
  static constexpr bool records = RecordsSteps<Queue>;

 private:
  // The schedule: each gives its part to the queue.
  virtual void enqueue_forward(const StepPass& pass) = 0;
  virtual void enqueue_backward(const StepPass& pass) = 0;
  virtual void enqueue_decision(GradientNorm norm) = 0;
  virtual void enqueue_update(const OptimizerHparams& hparams, const UpdateTerms& terms) = 0;

  /// What the collectives and copies of the step that comes next depend on.
  struct Progress {
    typename ParameterStore<R>::Progress parameters;
    typename GradientStore<R>::Progress gradients;
    typename OptimizerStore<R>::Progress optimizer;
    typename decltype(State<R>::teacher)::Progress teacher;
    bool operator==(const Progress&) const = default;
  };
  Progress progress() const {
    const State<R>& state = this->state_;
    return {state.parameters.progress(), state.gradients.progress(), state.optimizer.progress(),
            state.teacher.progress()};
  }
  static void unless_it_failed(auto&& wait) noexcept {
    try {
      wait();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the failure that ends the step is on its way already
    }
  }

  void begin_recorded(std::int64_t micro_batches) {
    using Device = device_of<R>;
    const BatchLimits of = this->limits();
    recorded_.begin(micro_batches, progress(), this->comm_.is_traced(),
                    Device::recorded_input_bytes(micro_batches, of.rows * of.tokens, plan::n_layers<R>,
                                                 of.rows * of.sequences),
                    Device::most_recorded_input_bytes);
  }
  /// What the queue is given from now on depends on nothing that other streams still do.
  void settle() {
    this->wait_for_all();
    this->state_.wait_for_transfers();
  }
  void record(const OptimizerHparams& hparams, UpdateTerms terms) {
    const GradientNorm norm = this->decision_.settings().norm;
    terms.rate_times = terms.rate_over = 1;
    terms.of_run = recorded_.rate();
    settle();
    recorded_.record(
        this->state_.queue(), this->comm_, [&] { return progress(); },
        [&] {
          for (std::int64_t i = 0; i < recorded_.micro_batches(); ++i) {
            const MicroBatch batch = recorded_.inputs().batch(i);
            const StepPass pass{batch, 0, true, {i, recorded_.micro_batches()}, recorded_.inputs().pass(i)};
            enqueue_forward(pass);
            enqueue_backward(pass);
          }
          enqueue_decision(norm);
          settle();
        },
        [&] {
          enqueue_update(hparams, terms);
          settle();
        },
        [&] { this->state_.forget(); });
  }

  struct Unrecorded {};
  [[no_unique_address]] std::conditional_t<records, RecordedStep<Queue, Progress>, Unrecorded> recorded_;
};

}  // namespace monomorph::train
