#pragma once
#include <monomorph/core/hparams.hpp>
#include <monomorph/model/layers.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/train/step/check_batch.hpp>
#include <monomorph/train/step/state.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// The state of a step, and what the host reads and changes of it between the step's calls.
template <Recipe R> class StepAccess : public TrainingStep {
 public:
  using ObjectiveHparams = typename objective_of<R>::Hparams;
  /// @param micro_batch, tree_levels see State   @param timing of copies between memory spaces
  /// @param purpose if it is inference, parameters have no first values, and nothing is called but what InferenceModel
  ///   has
  StepAccess(Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels = 0,
             const ObjectiveHparams& objective = {}, Transfers::Timing timing = Transfers::Timing::at_once,
             plan::Purpose purpose = plan::Purpose::training)
      : comm_(communicator),
        objective_(objective),
        state_(communicator, micro_batch, seed, tree_levels, timing, purpose) {
    if constexpr (plan::quantizes<R>)
      if (purpose == plan::Purpose::training)
        for (const QuantizedMatrix& matrix : state_.parameters.quantized()) initialize(matrix, seed, *this);
  }

  StepOutcome read(Ticket ticket) override { return decision_.read(state_.queue(), ticket); }
  StepScalars scalars() const override { return state_.scalars.read(); }
  void set_scalars(const StepScalars& scalars) override { state_.scalars.write(scalars); }
  std::vector<std::int64_t> counters() const override { return state_.scalars.read_counters(); }
  DeviceUse device_use() const override {
    using cpu::device_use;  // the name of this function hides that of the device's
    return device_use(state_.queue());
  }

  std::vector<StateTensor> parameters() override { return settled().parameters(); }
  std::vector<QuantizedMatrix> quantized() override {
    if constexpr (plan::quantizes<R>) {
      settled();
      return state_.parameters.quantized();
    } else {
      return {};
    }
  }
  std::vector<StateTensor> optimizer_state() override { return settled().state(); }
  std::vector<StateTensor> gradients() override { return settled().gradients(); }
  void parameters_changed() override {
    wait_for_all();
    state_.parameters.changed();
    state_.optimizer.round_parameters();
  }
  void take_teacher() override { state_.take_teacher(); }
  std::vector<StateTensor> teacher_parameters() override {
    synchronize(state_.queue());
    return state_.teacher.parameters();
  }
  void teacher_changed() override {
    wait_for_all();
    state_.teacher.forget();
  }
  /// A view that was taken before an update may lie on the host, and copies of that update still be on their way there.
  View download(View view, HostBuffer& buffer) const override {
    state_.wait_for_transfers();
    return copy_to_host(state_.queue(), view, buffer);
  }
  View place_for_upload(View view, HostBuffer& buffer) const override {
    return place_on_host(state_.queue(), view, buffer);
  }
  void upload(View place, View view) override {
    state_.wait_for_transfers();
    copy_from_host(state_.queue(), place, view);
  }

  View hidden_state(int block) const override {
    synchronize(state_.queue());
    return state_.activations.y_MD(plan::layer_of_block<R>(block) - 1);
  }
  View embeddings() const override {
    synchronize(state_.queue());
    if constexpr (makes_embeddings<R>)
      return LastLayer<R>::embeddings(head(), state_.activations.statistics(), state_.collectives);
    else
      return {};
  }
  View log_probabilities() const override {
    synchronize(state_.queue());
    if constexpr (is_over_sequences<objective_of<R>>)
      return LastLayer<R>::log_probabilities(head(), state_.activations.statistics());
    else
      return {};
  }
  /// What the last layer has saved.
  auto head() const { return state_.activations.saved(LastLayer<R>{}, plan::last_layer<R>); }
  const State<R>& state() const { return state_; }

 protected:
  static constexpr int n_units = plan::n_stored_units<R> + plan::n_teacher_units<R>;
  static constexpr bool within_documents = attention_of<R>::within_documents;

  /// What the recipe's batches are.
  BatchLimits limits() const {
    return {.rows = state_.batch(),
            .tokens = trunk_of<R>.context_length,
            .vocab_size = trunk_of<R>.vocab_size,
            .texts = texts_per_sample<objective_of<R>>(),
            .sequences = sequences_per_sample<objective_of<R>>(),
            .wants_document_starts = within_documents};
  }
  void check(const MicroBatch& batch) const { check_batch(batch, limits()); }
  /// Each unit's collectives are done.
  void wait_for_all() {
    for (int u = 0; u < n_units; ++u) state_.collectives.wait(u);
  }

  Communicator& comm_;  ///< for what the host does with it
  ObjectiveHparams objective_;
  State<R> state_;
  StepDecision decision_{comm_,
                         state_.scalars.get(),
                         {.words = state_.scalars.words().template as<std::int64_t>(),
                          .counters = state_.scalars.counters().data(),
                          .n_counters = plan::n_counters<R>,
                          .n_metrics = static_cast<int>(metrics_of<objective_of<R>>.size()),
                          .has_auxiliary_loss = plan::any_auxiliary_loss<R>,
                          .rank = comm_.rank(),
                          .n_ranks = comm_.size()}};

 private:
  /// No kernel that it was given to is still to run.
  const OptimizerStore<R>& settled() const {
    synchronize(state_.queue());
    return state_.optimizer;
  }
};

}  // namespace monomorph::train
