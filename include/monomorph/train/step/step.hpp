#pragma once
#include <monomorph/model/layers.hpp>
#include <monomorph/plan/attention.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/train/step/recordable_step.hpp>
#include <monomorph/train/step/transforms_in_turns.hpp>
#include <monomorph/train/step/transforms_of_all.hpp>

namespace monomorph::train {

/// One optimiser step of a recipe: the static schedule, from top to bottom. Layers compute; the stores say how
/// parameters, gradients, optimiser state and activations come and go between them; a policy decides by `if constexpr`;
/// what no policy decides is in src/. How the host calls it is in RecordableStep, what it reads of it in StepAccess.
template <Recipe R> class Step : public RecordableStep<R> {
  using OptimizerHparams = typename R::optimizer::Hparams;
  static constexpr int last_layer = plan::last_layer<R>, last = plan::n_stored_units<R> - 1,
                       lowest = plan::lowest_trained<R>;
  static constexpr bool transforms = OptimizerStore<R>::transforms_any;
  /// Where a prefix sees itself whole, a decoder cuts off what it has not been fed yet, as a document of its own.
  static constexpr bool may_be_cut = Step::within_documents || plan::longest_prefix<R> > 0;

 public:
  using RecordableStep<R>::RecordableStep;

  LossSum evaluate(const MicroBatch& batch) override {
    this->check(batch);
    const StepPass pass{batch, 0, false, {}};
    ask_teacher(pass);
    forward_to(last_layer, pass);
    teacher_.release();
    parameters_.after_evaluation();
    return this->scalars().micro_batch;
  }

 private:
  void enqueue_forward(const StepPass& pass) override {
    if (pass.accumulation_step.first()) scalars_.start_step();
    ask_teacher(pass);
    forward_to(last_layer - 1, pass);
  }
  /// From the first layer up to `end`.
  void forward_to(int end, const StepPass& pass) {
    scalars_.start_micro_batch();
    for (int i = 0; i <= end; ++i) {
      parameters_.before_forward(i);
      activations_.before_forward(i);
      with_layer<R>(i, [&](auto layer) {
        const auto span = comm_.trace_compute(in_trace(i, "forward"), unit(i));
        layer.forward(scalars_.counting(tensors(i, pass)), activations_.saved(layer, i));
      });
      parameters_.after_forward(i);
      activations_.after_forward(i, pass.training);
    }
  }

  void enqueue_backward(const StepPass& pass) override {
    for (int i = last_layer; i >= lowest; --i) {
      parameters_.before_backward(i);
      if (plan::last_uses_unit<R>(i)) gradients_.open(unit(i), pass.accumulation_step);
      with_layer<R>(i, [&](auto layer) {
        const auto span = comm_.trace_compute(in_trace(i, "backward"), unit(i));
        const auto saved = activations_.saved(layer, i);
        LayerTensors<R> t = tensors(i, pass);
        if (i == last_layer) t = scalars_.counting(t);  // it computes here for the first time
        activations_.before_backward(layer, i, t, saved);
        layer.backward(t, saved);
        if (i == last_layer) teacher_.release();
      });
      activations_.after_backward(i);
      parameters_.after_backward(i);
      if (plan::first_uses_unit<R>(i)) gradients_.close(unit(i), pass.accumulation_step);
    }
    scalars_.count_micro_batch();
  }

  /// What a teacher makes of the micro-batch comes first, as the last layer compares it with what the student makes.
  void ask_teacher(const StepPass& pass) {
    teacher_.forward(pass.batch, [this] { return comm_.trace_compute("teacher", no_unit); });
  }

  void enqueue_decision(GradientNorm norm) override {
    this->wait_for_all();
    {
      const auto span = comm_.trace_compute("gradient norm", no_unit);
      gradients_.complete();
      optimizer_.add_gradient_norm(norm, comm_.rank() / comm_.shards(), comm_.size() / comm_.shards(),
                                   &scalars_.get()->gradient_norm);
    }
    if constexpr (plan::n_maxima<R> != 0) this->decision_.join_maxima(this->state_.queue(), scalars_.maxima());
    this->decision_.give(this->state_.queue());
  }

  void enqueue_update(const OptimizerHparams& hparams, const UpdateTerms& terms) override {
    if constexpr (transforms) transforms_.before_updates(hparams, terms);
    for (int u = 0; u <= last; ++u) {
      if constexpr (transforms) transforms_.before_update(u, hparams, terms);
      if (plan::trains<R>(u)) {
        const auto span = comm_.trace_compute("update", u);
        optimizer_.update(u, hparams, terms, [&](const ElementUpdate& run) { scalars_.update_state(u, run, terms); });
      }
      parameters_.updated(u);
    }
  }
  /// What a trace calls the computing of a layer.
  static constexpr const char* in_trace(int layer, const char* pass) {
    return layer == last_layer ? "head and loss" : pass;
  }
  static constexpr int unit(int layer) { return plan::unit_of_layer<R>(layer); }
  LayerTensors<R> tensors(int layer, const StepPass& pass) {
    LayerTensors<R> t = this->state_.tensors(layer);
    t.inputs_M = pass.batch.inputs;
    t.targets_M = pass.batch.targets;
    t.objective = &this->objective_;
    t.reference_BK = pass.batch.reference;
    t.data_parallel = &this->state_.collectives;
    t.dropout.step = pass.step;
    t.dropout.first_sample = pass.batch.first_sample;
    if constexpr (Step::records) t.dropout.of_run = pass.of_run;
    if constexpr (may_be_cut) t.document_starts = pass.batch.document_starts;
    t.training = pass.training;
    t.accumulate = gradients_.accumulates(pass.accumulation_step);
    if (layer == last_layer) t.teacher = teacher_.views();
    return scalars_.with_maxima(t);
  }

  using RecordableStep<R>::comm_;
  ParameterStore<R>& parameters_ = this->state_.parameters;
  GradientStore<R>& gradients_ = this->state_.gradients;
  OptimizerStore<R>& optimizer_ = this->state_.optimizer;
  ActivationStore<R>& activations_ = this->state_.activations;
  ScalarStore<R>& scalars_ = this->state_.scalars;
  typename State<R>::TeacherOrNone& teacher_ = this->state_.teacher;
  using Transforms = std::conditional_t<plan::takes_turns_to_transform<R>, TransformsInTurns<R>, TransformsOfAll<R>>;
  struct NoTransforms {
    NoTransforms(State<R>&, Communicator&) {}
  };
  [[no_unique_address]] std::conditional_t<transforms, Transforms, NoTransforms> transforms_{this->state_, comm_};
};

}  // namespace monomorph::train
