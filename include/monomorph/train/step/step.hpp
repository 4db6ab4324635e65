#pragma once
#include <monomorph/core/hparams.hpp>
#include <monomorph/model/layers.hpp>
#include <monomorph/plan/attention.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/queued_communicator.hpp>
#include <monomorph/train/step/check_batch.hpp>
#include <monomorph/train/step/recomputing_token_pass.hpp>
#include <monomorph/train/step/recorded_step.hpp>
#include <monomorph/train/step/state.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// One optimiser step of a recipe: the static schedule, from top to bottom. Layers compute; the stores say how
/// parameters, gradients, optimiser state and activations come and go between them; a policy decides by `if constexpr`;
/// what no policy decides is in src/.
template <Recipe R> class Step final : public TrainingStep {
  static constexpr int last_layer = plan::last_layer<R>, last = plan::n_stored_units<R> - 1,
                       lowest = plan::lowest_trained<R>;
  static constexpr bool transforms = OptimizerStore<R>::transforms_any;
  static constexpr bool within_documents = attention_of<R>::within_documents;
  static constexpr bool records = RecordsSteps<typename device_of<R>::Queue>;
  /// Where a prefix sees itself whole, a decoder cuts off what it has not been fed yet, as a document of its own.
  static constexpr bool may_be_cut = within_documents || plan::longest_prefix<R> > 0;

 public:
  using ObjectiveHparams = typename objective_of<R>::Hparams;
  /// @param tree_levels see State   @param timing of copies between memory spaces
  Step(Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels = 0,
       const ObjectiveHparams& objective = {}, Transfers::Timing timing = Transfers::Timing::at_once)
      : comm_(communicator), objective_(objective), state_(communicator, micro_batch, seed, tree_levels, timing) {}

  /// What the queue was given, and collectives in flight, still use the arena, even after another unit failed.
  ~Step() override {
    for (int u = 0; u <= last; ++u)
      unless_it_failed([&] {
        collectives_.wait(u);
        synchronize(state_.queue());
      });
  }

  /// Up to the last layer but one: the last makes the loss and its gradient at once, in backward.
  void forward(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) override {
    check_batch(batch, limits());
    if constexpr (records) {
      if (accumulation_step.first()) begin_recorded(accumulation_step.count);
      recorded_.keep(batch, step, accumulation_step.index, tokens_of_batch());
      if (recorded_.runs()) return;
    }
    forward({batch, step, true, accumulation_step});
  }

  /// From the last layer down to the lowest one that is trained.
  void backward(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) override {
    if constexpr (records)
      if (recorded_.runs()) return;
    backward({batch, step, true, accumulation_step});
  }

  Ticket decide(const StepSettings& settings) override {
    const Ticket ticket = decision_.note(settings);
    if constexpr (records)
      if (recorded_.runs()) {
        settle();
        recorded_.run_to_decision(comm_);
        return ticket;
      }
    decide_by(settings.norm);
    return ticket;
  }

  void update(const PolicyHparams& policy_hparams, const UpdateSettings& settings) override {
    const auto& hparams = policy_hparams.as<typename R::optimizer::Hparams>();
    UpdateTerms terms{.decision = &scalars_.get()->decision,
                      .clip_value = settings.clip_value,
                      .rate_times = settings.rate_times,
                      .rate_over = settings.rate_over};
    if constexpr (records)
      if (recorded_.runs()) return recorded_.run_update(comm_, {settings.rate_times, settings.rate_over});
    update(hparams, terms);
    if constexpr (records)
      if (recorded_.is_due()) record(hparams, terms);
  }

  void record_steps(bool wanted) override {
    if constexpr (records) recorded_.use(wanted);
  }
  std::string take_recording_note() override {
    if constexpr (records)
      return recorded_.take_note();
    else
      return {};
  }

  StepOutcome read(Ticket ticket) override { return decision_.read(state_.queue(), ticket); }
  LossSum evaluate(const MicroBatch& batch) override {
    check_batch(batch, limits());
    forward_to(last_layer, {batch, 0, false, {}});
    parameters_.after_evaluation();
    return scalars().micro_batch;
  }
  StepScalars scalars() const override { return scalars_.read(); }
  void set_scalars(const StepScalars& scalars) override { scalars_.write(scalars); }
  std::vector<std::int64_t> counters() const override { return scalars_.read_counters(); }
  DeviceUse device_use() const override {
    using cpu::device_use;  // the name of this function hides that of the device's
    return device_use(state_.queue());
  }

  std::vector<StateTensor> parameters() override { return settled().parameters(); }
  std::vector<StateTensor> optimizer_state() override { return settled().state(); }
  std::vector<StateTensor> gradients() override { return settled().gradients(); }
  void parameters_changed() override {
    wait_for_all();
    parameters_.changed();
    optimizer_.round_parameters();
  }
  View download(View view, HostBuffer& buffer) const override { return copy_to_host(state_.queue(), view, buffer); }
  View place_for_upload(View view, HostBuffer& buffer) const override {
    return place_on_host(state_.queue(), view, buffer);
  }
  void upload(View place, View view) override { copy_from_host(state_.queue(), place, view); }
  Owned<TokenPass> token_pass(const PassSizes& sizes) override {
    if constexpr (makes_embeddings<R>)
      return nullptr;
    else if constexpr (every_layer_decodes<R> && !plan::Shards<R>::on_host)
      return state_.token_pass(sizes);
    else
      return make_owned<RecomputingTokenPass<R>>(state_.queue(), sizes, *this, parameters_.of_unit(plan::head_unit<R>),
                                                 state_.batch());
  }
  View hidden_state(int block) const override {
    synchronize(state_.queue());
    return activations_.y_MD(plan::layer_of_block<R>(block) - 1);
  }
  View embeddings() const override {
    synchronize(state_.queue());
    if constexpr (makes_embeddings<R>)
      return LastLayer<R>::embeddings(head(), activations_.statistics(), collectives_);
    else
      return {};
  }
  /// What the last layer has saved.
  auto head() const { return activations_.saved(LastLayer<R>{}, last_layer); }
  const State<R>& state() const { return state_; }

 private:
  struct Pass {
    const MicroBatch& batch;
    std::uint64_t step;
    bool training;
    AccumulationStep accumulation_step;
    const DropoutPass* of_run = nullptr;  ///< DropoutKey's
  };

  BatchLimits limits() const {
    std::int64_t texts = 0;
    if constexpr (makes_embeddings<R>) texts = objective_of<R>::texts_per_sample;
    return {.rows = state_.batch(),
            .tokens = trunk_of<R>.context_length,
            .vocab_size = trunk_of<R>.vocab_size,
            .texts = texts,
            .wants_document_starts = within_documents};
  }

  void forward(const Pass& pass) {
    if (pass.accumulation_step.first()) scalars_.start_step();
    forward_to(last_layer - 1, pass);
  }
  /// From the first layer up to `end`.
  void forward_to(int end, const Pass& pass) {
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

  void backward(const Pass& pass) {
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
      });
      activations_.after_backward(i);
      parameters_.after_backward(i);
      if (plan::first_uses_unit<R>(i)) gradients_.close(unit(i), pass.accumulation_step);
    }
    scalars_.count_micro_batch();
  }

  void decide_by(GradientNorm norm) {
    wait_for_all();
    {
      const auto span = comm_.trace_compute("gradient norm", no_unit);
      gradients_.complete();
      optimizer_.add_gradient_norm(norm, comm_.rank() / comm_.shards(), comm_.size() / comm_.shards(),
                                   &scalars_.get()->gradient_norm);
    }
    decision_.give(state_.queue());
  }

  void update(const auto& hparams, const UpdateTerms& terms) {
    if constexpr (transforms) prepare_update(0, hparams, terms);
    for (int u = 0; u <= last; ++u) {
      if constexpr (transforms) {
        if (u < last) prepare_update(u + 1, hparams, terms);  // on its way while u is transformed
        transform(u, hparams);
      }
      if (plan::trains<R>(u)) {
        const auto span = comm_.trace_compute("update", u);
        optimizer_.update(u, hparams, terms, [&](const ElementUpdate& run) { scalars_.update_state(u, run, terms); });
      }
      parameters_.updated(u);
    }
  }

  // A step that the device records (recorded_step.hpp).
  std::int64_t tokens_of_batch() const { return state_.batch() * trunk_of<R>.context_length; }
  std::vector<std::int64_t> progress() const {
    std::vector<std::int64_t> progress;
    parameters_.note_progress(progress);
    gradients_.note_progress(progress);
    optimizer_.note_progress(progress);
    return progress;
  }
  void begin_recorded(std::int64_t micro_batches) {
    using Device = device_of<R>;
    recorded_.begin(micro_batches, progress(), comm_.is_traced(),
                    Device::recorded_input_bytes(micro_batches, tokens_of_batch(), plan::n_layers<R>),
                    Device::most_recorded_input_bytes);
  }
  /// What the queue is given from now on depends on nothing that other streams still do.
  void settle() {
    wait_for_all();
    state_.wait_for_transfers();
  }
  void record(const auto& hparams, UpdateTerms terms) {
    const GradientNorm norm = decision_.settings().norm;
    terms.rate_times = terms.rate_over = 1;
    terms.of_run = recorded_.rate();
    settle();
    recorded_.record(
        state_.queue(), comm_, [&] { return progress(); },
        [&] {
          for (std::int64_t i = 0; i < recorded_.micro_batches(); ++i) {
            const MicroBatch batch = recorded_.inputs().batch(i);
            const Pass pass{batch, 0, true, {i, recorded_.micro_batches()}, recorded_.inputs().pass(i)};
            forward(pass);
            backward(pass);
          }
          decide_by(norm);
          settle();
        },
        [&] {
          update(hparams, terms);
          settle();
        },
        [&] {
          parameters_.changed();
          gradients_.forget();
          optimizer_.forget();
          state_.forget_transfers();
        });
  }

  static void unless_it_failed(auto&& wait) noexcept {
    try {
      wait();
    } catch (...) {  // NOLINT(bugprone-empty-catch): the failure that ends the step is on its way already
    }
  }

  /// What an optimiser transforms as whole matrices is gathered to the place of the whole gradients.
  void prepare_update(int u, const auto& hparams, const UpdateTerms& terms) {
    if (!optimizer_.transforms(u)) return;
    optimizer_.prepare(u, hparams, terms);
    gradients_.gather(u);
  }
  void transform(int u, const auto& hparams) {
    if (!optimizer_.transforms(u)) return;
    collectives_.wait(u);
    const auto span = comm_.trace_compute("transform", u);
    optimizer_.transform(u, hparams);
  }

  /// No kernel that it was given to is still to run.
  const OptimizerStore<R>& settled() const {
    synchronize(state_.queue());
    return optimizer_;
  }
  void wait_for_all() {
    for (int u = 0; u <= last; ++u) collectives_.wait(u);
  }

  /// What a trace calls the computing of a layer.
  static constexpr const char* in_trace(int layer, const char* pass) {
    return layer == last_layer ? "head and loss" : pass;
  }
  static constexpr int unit(int layer) { return plan::unit_of_layer<R>(layer); }
  LayerTensors<R> tensors(int layer, const Pass& pass) {
    LayerTensors<R> t = state_.tensors(layer);
    t.inputs_M = pass.batch.inputs;
    t.targets_M = pass.batch.targets;
    t.objective = &objective_;
    t.data_parallel = &collectives_;
    t.dropout.step = pass.step;
    t.dropout.first_sample = pass.batch.first_sample;
    if constexpr (records) t.dropout.of_run = pass.of_run;
    if constexpr (may_be_cut) t.document_starts = pass.batch.document_starts;
    t.training = pass.training;
    t.accumulate = gradients_.accumulates(pass.accumulation_step);
    return t;
  }

  Communicator& comm_;  ///< for what the host does with it
  ObjectiveHparams objective_;
  State<R> state_;
  const QueuedCommunicator<typename device_of<R>::Queue>& collectives_ = state_.collectives;
  ParameterStore<R>& parameters_ = state_.parameters;
  GradientStore<R>& gradients_ = state_.gradients;
  OptimizerStore<R>& optimizer_ = state_.optimizer;
  ActivationStore<R>& activations_ = state_.activations;
  ScalarStore<R>& scalars_ = state_.scalars;
  StepDecision decision_{comm_,
                         scalars_.get(),
                         {.words = scalars_.words().template as<std::int64_t>(),
                          .counters = scalars_.counters().data(),
                          .n_counters = plan::n_counters<R>,
                          .n_metrics = static_cast<int>(metrics_of<objective_of<R>>.size()),
                          .has_auxiliary_loss = plan::any_auxiliary_loss<R>,
                          .rank = comm_.rank(),
                          .n_ranks = comm_.size()}};
  struct Unrecorded {};
  [[no_unique_address]] std::conditional_t<records, RecordedStep<typename device_of<R>::Queue>, Unrecorded> recorded_;
};

}  // namespace monomorph::train
