#pragma once
#include <monomorph/model/decoder_block.hpp>
#include <monomorph/model/embed.hpp>
#include <monomorph/model/head.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/communicator.hpp>
#include <monomorph/runtime/kernels/document_starts.hpp>
#include <monomorph/train/recomputing_decoder.hpp>
#include <monomorph/train/state.hpp>
#include <monomorph/train/training_step.hpp>

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

 public:
  Step(Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed)
      : comm_(communicator), state_(communicator, micro_batch, seed) {}

  kernels::LossSum accumulate(const MicroBatch& batch, std::uint64_t step, bool first) override {
    const Pass pass{.batch = batch, .step = step, .training = true, .accumulate = !first};
    forward(pass);
    if constexpr (gathers) comm_.wait(head);
    const kernels::LossSum loss = model::head<R>(tensors(head, pass), state_.activations, batch.targets);
    backward(pass);
    return loss;
  }

  kernels::LossSum evaluate(const MicroBatch& batch) override {
    const Pass pass{.batch = batch, .step = 0, .training = false, .accumulate = false};
    forward(pass);
    if constexpr (gathers) comm_.wait(head);
    const kernels::LossSum loss = model::head<R>(tensors(head, pass), state_.activations, batch.targets);
    if constexpr (gathers)
      for (int u = releases ? L : 0; u <= last; ++u) release(u);
    return loss;
  }

  double gradient_norm(GradientNorm order) override { return state_.gradient_norm(order); }

  void update(const kernels::AdamWStep& step) override {
    for (int u = 0; u <= last; ++u) state_.update(u, step);
  }

  std::vector<StateTensor> parameters() override { return state_.parameters(); }
  std::vector<StateTensor> moments() override { return state_.moments(); }
  std::vector<StateTensor> gradients() override { return state_.gradients(); }
  void parameters_changed() override { state_.round_parameters(); }
  std::unique_ptr<Decoder> decoder() override {
    if constexpr (every_block_decodes<R>)
      return state_.decoder();
    else
      return std::make_unique<RecomputingDecoder<R>>(*this, state_.whole_params(head), state_.batch());
  }
  View hidden_state(int block) const override { return state_.x_MD(block); }
  const State<R>& state() const { return state_; }

 private:
  struct Pass {
    const MicroBatch& batch;
    std::uint64_t step;
    bool training, accumulate;
  };

  void forward(const Pass& pass) {
    if constexpr (within_documents)
      kernels::check_document_starts(pass.batch.document_starts, state_.batch(), R::model.context_length);
    if constexpr (gathers) {
      gather(embedding);
      gather(plan::unit_of_block(0));
      comm_.wait(embedding);
    }
    model::embed<R>(tensors(embedding, pass), pass.batch.inputs);
    if constexpr (gathers && releases && !tied) release(embedding);
    for (int block = 0; block < L; ++block) {
      const int u = plan::unit_of_block(block);
      if constexpr (gathers) {
        if (u < last) gather(u + 1);  // on its way while u computes
        comm_.wait(u);
      }
      with_block<R>(block, [&](auto b) { b.forward(tensors(u, pass), state_.activations.saved(b, block)); });
      if constexpr (gathers && releases)
        if (block < L - 1) release(u);  // the last block is the first that backward needs
    }
  }

  void backward(const Pass& pass) {
    if constexpr (!tied) finish_gradients(head);
    for (int block = L - 1; block >= 0; --block) {
      const int u = plan::unit_of_block(block);
      if constexpr (gathers) {
        if (releases && block > 0) gather(u - 1);
        comm_.wait(u);
      }
      with_block<R>(block, [&](auto b) {
        const auto saved = state_.activations.saved(b, block);
        if (R::checkpointing::recompute(block) != Recompute::nothing) b.recompute(tensors(u, pass), saved);
        b.backward(tensors(u, pass), saved);
      });
      finish_gradients(u);
    }
    model::embed_backward<R>(tensors(embedding, pass), pass.batch.inputs);
    finish_gradients(embedding);
  }

  void gather(int u) { comm_.gather(u, state_.params(u), state_.whole_params(u)); }
  void release(int u) { comm_.release(u, state_.whole_params(u)); }
  /// The unit's parameters are used no more, and its gradients leave while the units below compute.
  void finish_gradients(int u) {
    if constexpr (gathers) release(u);
    comm_.reduce(u, state_.whole_gradients(u), state_.gradient(u));
  }

  BlockTensors tensors(int u, const Pass& pass) {
    BlockTensors t = state_.tensors(u);
    t.dropout.step = pass.step;
    t.dropout.first_sample = pass.batch.first_sample;
    if constexpr (within_documents) t.document_starts = pass.batch.document_starts;
    t.training = pass.training;
    t.accumulate = pass.accumulate;
    return t;
  }

  Communicator& comm_;
  State<R> state_;
};

}  // namespace monomorph::train
