#pragma once
#include <monomorph/core/error.hpp>
#include <monomorph/core/hparams.hpp>
#include <monomorph/model/decoder_block.hpp>
#include <monomorph/model/embed.hpp>
#include <monomorph/model/head.hpp>
#include <monomorph/plan/attention.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/kernels/document_starts.hpp>
#include <monomorph/train/step/recomputing_decoder.hpp>
#include <monomorph/train/step/state.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <monomorph/train/step/unit_buffers.hpp>

namespace monomorph::train {

/// One optimiser step of a recipe: the static schedule, from top to bottom. A policy decides by `if constexpr`; what no
/// policy decides is in src/.
template <Recipe R> class Step final : public TrainingStep {
  static constexpr int L = plan::n_blocks<R>, embedding = plan::embedding_unit<R>, head = plan::head_unit<R>,
                       last = plan::n_units<R> - 1;
  static constexpr bool tied = R::model.tied_head;
  static constexpr bool gathers = R::sharding::gathers_params;
  static constexpr bool releases = R::sharding::releases_after_forward;
  static constexpr bool within_documents = attention_of<R>::within_documents;
  static constexpr bool transforms = updates_matrices<typename R::optimizer>;
  /// Where a prefix sees itself whole, a decoder cuts off what it has not been fed yet, as a document of its own.
  static constexpr bool may_be_cut = within_documents || plan::longest_prefix<R> > 0;

 public:
  using ObjectiveHparams = typename objective_of<R>::Hparams;
  /// @param tree_levels see State
  Step(Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels = 0,
       const ObjectiveHparams& objective = {})
      : comm_(communicator),
        in_tree_(tree_levels > 0),
        objective_(objective),
        state_(communicator, micro_batch, seed, tree_levels) {}

  /// In-flight collectives still use the arena, even after another unit failed.
  ~Step() override {
    for (int u = 0; u <= last; ++u) try {
        comm_.wait(u);
      } catch (...) {  // NOLINT(bugprone-empty-catch): whose failure it is was said where it was noticed first
      }
  }

  LossSum accumulate(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) override {
    const Pass pass{.batch = batch, .step = step, .training = true, .accumulation_step = accumulation_step};
    forward(pass);
    begin_gradients(head, pass);
    const LossSum loss = head_and_loss(pass);
    backward(pass);
    last_accumulation_step_ = accumulation_step;
    return loss;
  }

  LossSum evaluate(const MicroBatch& batch) override {
    const Pass pass{.batch = batch, .step = 0, .training = false, .accumulation_step = {}};
    forward(pass);
    const LossSum loss = head_and_loss(pass);
    if constexpr (releases)
      for (int u : {plan::unit_of_block(L - 1), head}) release(u);
    return loss;
  }

  PartialGradientNorm partial_gradient_norm(GradientNorm order) override {
    wait_for_all();
    const auto span = comm_.trace_compute("gradient norm", Trace::no_unit);
    if (in_tree_)
      for (int u = 0; u <= last; ++u) state_.add_to_tree(u, last_accumulation_step_);
    return state_.partial_gradient_norm(order, comm_.rank() / comm_.shards(), comm_.size() / comm_.shards());
  }

  void update(const PolicyHparams& policy_hparams, const UpdateScalars& scalars) override {
    const auto& hparams = policy_hparams.as<typename R::optimizer::Hparams>();
    if constexpr (transforms) prepare_update(0, hparams, scalars);
    for (int u = 0; u <= last; ++u) {
      if constexpr (transforms) {
        if (u < last) prepare_update(u + 1, hparams, scalars);  // on its way while u is transformed
        transform(u, hparams);
      }
      {
        const auto span = comm_.trace_compute("update", u);
        state_.update(u, hparams, scalars);
      }
      if constexpr (gathers) {
        gathered_.forget(u);
        if (!releases || u <= plan::unit_of_block(0))
          all_gather(u);  // for the next step, while other units are updated
      }
    }
  }

  std::vector<StateTensor> parameters() override { return state_.parameters(); }
  std::vector<StateTensor> optimizer_state() override { return state_.optimizer_state(); }
  std::vector<StateTensor> gradients() override { return state_.gradients(); }
  void parameters_changed() override {
    if constexpr (gathers) {
      wait_for_all();
      gathered_ = {};
    }
    state_.round_parameters();
  }
  std::unique_ptr<Decoder> decoder() override {
    if constexpr (every_block_decodes<R>)
      return state_.decoder();
    else
      return std::make_unique<RecomputingDecoder<R>>(*this, state_.unsharded_params(head), state_.batch());
  }
  View hidden_state(int block) const override { return state_.x_MD(block); }
  const State<R>& state() const { return state_; }

 private:
  struct Pass {
    const MicroBatch& batch;
    std::uint64_t step;
    bool training;
    AccumulationStep accumulation_step;
  };

  LossSum head_and_loss(const Pass& pass) {
    const auto span = comm_.trace_compute("head and loss", head);
    return model::head<R>(tensors(head, pass), state_.activations, pass.batch.targets, objective_);
  }

  void forward(const Pass& pass) {
    if constexpr (within_documents)
      kernels::check_document_starts(pass.batch.document_starts, state_.batch(), R::model.context_length);
    if constexpr (gathers) {
      all_gather(embedding);
      all_gather(plan::unit_of_block(0));
      comm_.wait(embedding);
    }
    {
      const auto span = comm_.trace_compute("forward", embedding);
      model::embed<R>(tensors(embedding, pass), pass.batch.inputs);
    }
    if constexpr (releases && !tied) release(embedding);
    for (int block = 0; block < L; ++block) {
      const int u = plan::unit_of_block(block);
      if constexpr (gathers) {
        if (u < last) all_gather(u + 1);  // on its way while u computes
        comm_.wait(u);
      }
      with_block<R>(block, [&](auto b) {
        const auto span = comm_.trace_compute("forward", u);
        b.forward(tensors(u, pass), state_.activations.saved(b, block));
      });
      if constexpr (releases)
        if (block < L - 1) release(u);  // the last block is the first that backward needs
    }
    if constexpr (gathers) comm_.wait(head);
  }

  void backward(const Pass& pass) {
    if constexpr (!tied) finish_gradients(head, pass);
    for (int block = L - 1; block >= 0; --block) {
      const int u = plan::unit_of_block(block);
      if constexpr (releases) {
        if (block > 0) all_gather(u - 1);
        comm_.wait(u);
      }
      begin_gradients(u, pass);
      with_block<R>(block, [&](auto b) {
        const auto span = comm_.trace_compute("backward", u);
        const auto saved = state_.activations.saved(b, block);
        if (R::checkpointing::recompute(block) != Recompute::nothing) b.recompute(tensors(u, pass), saved);
        b.backward(tensors(u, pass), saved);
      });
      finish_gradients(u, pass);
    }
    if constexpr (!tied) begin_gradients(embedding, pass);
    {
      const auto span = comm_.trace_compute("backward", embedding);
      model::embed_backward<R>(tensors(embedding, pass), pass.batch.inputs);
    }
    finish_gradients(embedding, pass);
  }

  /// What an optimiser transforms as whole matrices is gathered to the place of the whole gradients.
  void prepare_update(int u, const auto& hparams, const UpdateScalars& scalars) {
    if (!state_.transforms(u)) return;
    state_.prepare_update(u, hparams, scalars);
    if (comm_.shards() == 1) return;
    const int before = gradient_slots_.take(state_.gradient_slot(u), u);
    if (before >= 0) comm_.wait(before);
    comm_.all_gather(u, state_.gradient(u), state_.unsharded_gradients(u));
  }
  void transform(int u, const auto& hparams) {
    if (!state_.transforms(u)) return;
    comm_.wait(u);
    const auto span = comm_.trace_compute("transform", u);
    state_.transform(u, hparams);
  }

  void wait_for_all() {
    for (int u = 0; u <= last; ++u) comm_.wait(u);
  }
  /// Gathers a unit, unless it is there or in flight already.
  void all_gather(int u) {
    if (gathered_.insert(u)) comm_.all_gather(u, state_.params(u), state_.unsharded_params(u));
  }
  void release(int u) {
    gathered_.forget(u);
    comm_.release(u);
  }
  /// Backward may write the unit's gradients when those that were in the slot before have been reduced.
  void begin_gradients(int u, const Pass& pass) {
    const int before = gradient_slots_.take(state_.gradient_slot(u), u);
    if (before >= 0) comm_.wait(before);
    if (before != u) state_.zero_padding(u);
    if (in_tree_ && !pass.accumulation_step.first()) {
      comm_.wait(u);
      state_.add_to_tree(u, {pass.accumulation_step.index - 1, pass.accumulation_step.count});
    }
  }
  /// Releases the unit's parameters, and reduces its gradients while the units below compute.
  void finish_gradients(int u, const Pass& pass) {
    if constexpr (releases) release(u);
    const AccumulationStep accumulation_step = pass.accumulation_step;
    if (in_tree_)
      comm_.reduce_scatter(u, state_.unsharded_gradients(u), state_.gradient(u), {});
    else if (R::sharding::reduces_every_micro_batch || accumulation_step.last())
      comm_.reduce_scatter(u, state_.unsharded_gradients(u), state_.gradient(u),
                           {R::sharding::reduces_every_micro_batch && !accumulation_step.first(),
                            accumulation_step.last()});
  }

  BlockTensors tensors(int u, const Pass& pass) {
    BlockTensors t = state_.tensors(u);
    t.dropout.step = pass.step;
    t.dropout.first_sample = pass.batch.first_sample;
    if constexpr (may_be_cut) t.document_starts = pass.batch.document_starts;
    t.training = pass.training;
    t.loss_scale = pass.accumulation_step.loss_scale;
    t.accumulate = !in_tree_ && !pass.accumulation_step.first() && state_.accumulates_unsharded();
    return t;
  }

  Communicator& comm_;
  bool in_tree_;
  ObjectiveHparams objective_;
  State<R> state_;
  AccumulationStep last_accumulation_step_;
  GatheredUnits<plan::n_units<R>> gathered_;
  GradientSlots gradient_slots_;
};

}  // namespace monomorph::train
