#pragma once
#include <cstdint>
#include <limits>
#include <monomorph/runtime/machine/device_use.hpp>
#include <monomorph/train/step/inference_model.hpp>
#include <monomorph/train/step/step_decision.hpp>
#include <span>
#include <string>
#include <vector>

namespace monomorph {
class PolicyHparams;  // core/hparams.hpp
}

namespace monomorph::train {

/// The place of a micro-batch among those of a rank's step.
struct AccumulationStep {
  std::int64_t index = 0, count = 1;
  bool first() const { return index == 0; }         ///< gradients are overwritten, not added to
  bool last() const { return index + 1 == count; }  ///< gradients are complete after it
};

/// What the host knows of an update.
struct UpdateSettings {
  double clip_value = std::numeric_limits<double>::infinity();  ///< bound of each scaled gradient element
  double rate_times = 1, rate_over = 1;                         ///< of the learning rate's schedule
};

/// What the training loop needs of Step<R>, so that the loop is compiled once for all recipes.
class TrainingStep : public InferenceModel {
 public:
  /// Lets a device that can record steps run later ones from its recording (docs/why/recorded_steps.md). The kernels
  /// of such a step run only when it is decided, so nothing of it can be looked at before. The recording holds the
  /// kind of the gradient norm, the bounds of gradient elements and the optimiser's hyperparameters: from step to step
  /// the caller may change only the batch, the step's number and the schedule's factors of the learning rate.
  virtual void record_steps(bool) {}
  /// Why steps are not recorded, if that has become known since the last call; otherwise empty.
  virtual std::string take_recording_note() { return {}; }

  // The functions from here to `read` may return before what they give to the queue has run.

  /// Forward of a micro-batch of a step. Its backward comes before another forward: a step has the activations of one.
  virtual void forward(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) = 0;
  /// Loss and backward of the same micro-batch. Gradients are of the sum of the tokens' losses, times the loss scale.
  virtual void backward(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) = 0;
  /// Both, where nothing comes between them.
  void accumulate(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) {
    forward(batch, step, accumulation_step);
    backward(batch, step, accumulation_step);
  }
  /// Ends the step's micro-batches: adds up what all ranks have, and decides whether and how an update is made.
  virtual Ticket decide(const StepSettings& settings) = 0;
  /// Updates the parameters, unless `decide` decided against it.   @param hparams those of the recipe's optimiser
  virtual void update(const PolicyHparams& hparams, const UpdateSettings& settings) = 0;

  /// The outcome of a step, which must be the last one or the one before. Waits until it is known.
  virtual StepOutcome read(Ticket ticket) = 0;
  virtual StepScalars scalars() const = 0;
  /// What a run that is resumed goes on with.
  virtual void set_scalars(const StepScalars& scalars) = 0;
  /// Calls f with the scalars, to change them.
  template <class F> void change_scalars(F&& f) {
    StepScalars changed = scalars();
    f(changed);
    set_scalars(changed);
  }
  /// What layers have counted, one after the other, since the step's first micro-batch: on this rank, or on all ranks
  /// once the step is decided.
  virtual std::vector<std::int64_t> counters() const = 0;
  virtual DeviceUse device_use() const = 0;
  virtual std::vector<StateTensor> optimizer_state() = 0;
  virtual std::vector<StateTensor> gradients() = 0;  ///< for tests and diagnosis
  /// Takes memory for the teacher of the recipe's objective, if the objective has one and this was not called before.
  /// Training needs the teacher; an evaluation uses it if it is there.
  virtual void take_teacher() {}
  /// The teacher's, in the dtype that computes. Empty without a teacher, or before take_teacher.
  virtual std::vector<StateTensor> teacher_parameters() { return {}; }
  virtual void teacher_changed() {}  ///< after a load
};

}  // namespace monomorph::train
