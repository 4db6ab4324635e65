#pragma once
#include <monomorph/core/hparams.hpp>
#include <monomorph/model/decoder_block.hpp>
#include <monomorph/model/embed.hpp>
#include <monomorph/model/head.hpp>
#include <monomorph/model/mixture_of_experts.hpp>
#include <monomorph/plan/attention.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/kernels/document_starts.hpp>
#include <monomorph/train/step/embedding_loss.hpp>
#include <monomorph/train/step/recomputing_decoder.hpp>
#include <monomorph/train/step/state.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// One optimiser step of a recipe: the static schedule, from top to bottom. The stores say how parameters, gradients,
/// optimiser state and activations come and go; a policy decides by `if constexpr`; what no policy decides is in src/.
template <Recipe R> class Step final : public TrainingStep {
  static constexpr int L = plan::n_blocks<R>, embedding = plan::embedding_unit<R>, head = plan::head_unit<R>,
                       last = plan::n_units<R> - 1, lowest = plan::lowest_trained<R>;
  static constexpr bool tied = R::model.tied_head;
  static constexpr bool transforms = OptimizerStore<R>::transforms_any;
  static constexpr bool within_documents = attention_of<R>::within_documents;
  /// Where a prefix sees itself whole, a decoder cuts off what it has not been fed yet, as a document of its own.
  static constexpr bool may_be_cut = within_documents || plan::longest_prefix<R> > 0;

 public:
  using ObjectiveHparams = typename objective_of<R>::Hparams;
  /// @param tree_levels see State   @param timing of copies between memory spaces
  Step(Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels = 0,
       const ObjectiveHparams& objective = {}, Transfers::Timing timing = Transfers::Timing::at_once)
      : comm_(communicator), objective_(objective), state_(communicator, micro_batch, seed, tree_levels, timing) {}

  /// In-flight collectives still use the arena, even after another unit failed.
  ~Step() override {
    for (int u = 0; u <= last; ++u) try {
        comm_.wait(u);
      } catch (...) {  // NOLINT(bugprone-empty-catch): whose failure it is was said where it was noticed first
      }
  }

  void accumulate(const MicroBatch& batch, std::uint64_t step, AccumulationStep accumulation_step) override {
    const Pass pass{.batch = batch, .step = step, .training = true, .accumulation_step = accumulation_step};
    if (accumulation_step.first()) scalars_.begin_step();
    forward(pass);
    gradients_.open(head, accumulation_step);
    head_and_loss(pass);
    scalars_.end_micro_batch();
    backward(pass);
  }

  Ticket decide(const StepSettings& settings) override {
    wait_for_all();
    {
      const auto span = comm_.trace_compute("gradient norm", no_unit);
      gradients_.complete();
      optimizer_.add_gradient_norm(settings.norm, comm_.rank() / comm_.shards(), comm_.size() / comm_.shards(),
                                   &scalars_.get()->gradient_norm);
    }
    return decision_.take(state_.queue(), settings);
  }

  void update(const PolicyHparams& policy_hparams, const UpdateSettings& settings) override {
    const auto& hparams = policy_hparams.as<typename R::optimizer::Hparams>();
    const UpdateTerms terms{.decision = &scalars_.get()->decision,
                            .clip_value = settings.clip_value,
                            .rate_times = settings.rate_times,
                            .rate_over = settings.rate_over};
    if constexpr (transforms) prepare_update(0, hparams, terms);
    for (int u = 0; u <= last; ++u) {
      if constexpr (transforms) {
        if (u < last) prepare_update(u + 1, hparams, terms);  // on its way while u is transformed
        transform(u, hparams);
      }
      if (plan::trains<R>(u)) {
        const auto span = comm_.trace_compute("update", u);
        optimizer_.update(u, hparams, terms,
                          [&](const ElementUpdate& run) { scalars_.update_state(plan::block_of_unit(u), run, terms); });
      }
      parameters_.updated(u);
    }
  }

  StepOutcome read(Ticket ticket) override { return decision_.read(state_.queue(), ticket); }
  LossSum evaluate(const MicroBatch& batch) override {
    const Pass pass{.batch = batch, .step = 0, .training = false, .accumulation_step = {}};
    forward(pass);
    head_and_loss(pass);
    parameters_.after_evaluation();
    return scalars().micro_batch;
  }
  StepScalars& scalars() override {
    synchronize(state_.queue());
    return *scalars_.get();
  }
  std::span<const std::int64_t> counters() override {
    synchronize(state_.queue());
    return scalars_.counters();
  }

  std::vector<StateTensor> parameters() override { return settled().parameters(); }
  std::vector<StateTensor> optimizer_state() override { return settled().state(); }
  std::vector<StateTensor> gradients() override { return settled().gradients(); }
  void parameters_changed() override {
    wait_for_all();
    parameters_.changed();
    optimizer_.round_parameters();
  }
  std::unique_ptr<Decoder> decoder() override {
    if constexpr (is_encoder<R>)
      return nullptr;
    else if constexpr (every_block_decodes<R>)
      return state_.decoder();
    else
      return std::make_unique<RecomputingDecoder<R>>(state_.queue(), *this, parameters_.whole(head), state_.batch());
  }
  View hidden_state(int block) const override {
    synchronize(state_.queue());
    return state_.activations.x_MD(block);
  }
  View embeddings() const override {
    synchronize(state_.queue());
    if constexpr (is_encoder<R>)
      return own_embeddings<R>(comm_, activations_.plan(), activations_.statistics())
          .columns(0, R::model.embedding_width());
    else
      return {};
  }
  const State<R>& state() const { return state_; }

 private:
  struct Pass {
    const MicroBatch& batch;
    std::uint64_t step;
    bool training;
    AccumulationStep accumulation_step;
  };

  void forward(const Pass& pass) {
    if constexpr (within_documents)
      cpu::check_document_starts(pass.batch.document_starts, state_.batch(), R::model.context_length);
    scalars_.begin_micro_batch();
    parameters_.before_forward(embedding);
    {
      const auto span = comm_.trace_compute("forward", embedding);
      model::embed<R>(tensors(embedding, pass), pass.batch.inputs);
    }
    parameters_.after_forward(embedding);
    for (int block = 0; block < L; ++block) {
      const int u = plan::unit_of_block(block);
      parameters_.before_forward(u);
      activations_.before_forward(block);
      with_block<R>(block, [&](auto b) {
        const auto span = comm_.trace_compute("forward", u);
        b.forward(scalars_.counting(tensors(u, pass)), activations_.saved(b, block));
      });
      parameters_.after_forward(u);
      activations_.after_forward(block, pass.training);
    }
    parameters_.before_head();
  }

  void head_and_loss(const Pass& pass) {
    const auto span = comm_.trace_compute("head and loss", head);
    if constexpr (is_encoder<R>)
      embedding_loss<R>(comm_, tensors(head, pass), activations_.plan(), pass.batch.targets, objective_);
    else
      model::head<R>(tensors(head, pass), activations_.plan(), pass.batch.targets, objective_);
  }

  /// Down to the lowest unit that is trained.
  void backward(const Pass& pass) {
    if constexpr (!tied) finish(head, pass);
    for (int block = L - 1; block >= 0 && plan::unit_of_block(block) >= lowest; --block) {
      const int u = plan::unit_of_block(block);
      parameters_.before_backward(u);
      gradients_.open(u, pass.accumulation_step);
      with_block<R>(block, [&](auto b) {
        const auto span = comm_.trace_compute("backward", u);
        const auto saved = activations_.saved(b, block);
        const TensorsOf<R> t = tensors(u, pass);
        activations_.before_backward(b, t, saved);
        b.backward(t, saved);
      });
      activations_.after_backward(block);
      finish(u, pass);
    }
    if constexpr (lowest == embedding) {
      if constexpr (!tied) gradients_.open(embedding, pass.accumulation_step);
      {
        const auto span = comm_.trace_compute("backward", embedding);
        model::embed_backward<R>(tensors(embedding, pass), pass.batch.inputs);
      }
      finish(embedding, pass);
    }
  }
  void finish(int u, const Pass& pass) {
    parameters_.after_backward(u);
    gradients_.close(u, pass.accumulation_step);
  }

  /// What an optimiser transforms as whole matrices is gathered to the place of the whole gradients.
  void prepare_update(int u, const auto& hparams, const UpdateTerms& terms) {
    if (!optimizer_.transforms(u)) return;
    optimizer_.prepare(u, hparams, terms);
    gradients_.gather(u);
  }
  void transform(int u, const auto& hparams) {
    if (!optimizer_.transforms(u)) return;
    comm_.wait(u);
    const auto span = comm_.trace_compute("transform", u);
    optimizer_.transform(u, hparams);
  }

  /// What the host reads of it is there.
  const OptimizerStore<R>& settled() const {
    synchronize(state_.queue());
    return optimizer_;
  }
  void wait_for_all() {
    for (int u = 0; u <= last; ++u) comm_.wait(u);
  }

  TensorsOf<R> tensors(int u, const Pass& pass) {
    TensorsOf<R> t = state_.tensors(u);
    t.dropout.step = pass.step;
    t.dropout.first_sample = pass.batch.first_sample;
    if constexpr (may_be_cut) t.document_starts = pass.batch.document_starts;
    t.training = pass.training;
    t.accumulate = gradients_.accumulates(pass.accumulation_step);
    return t;
  }

  Communicator& comm_;
  ObjectiveHparams objective_;
  State<R> state_;
  ParameterStore<R>& parameters_ = state_.parameters;
  GradientStore<R>& gradients_ = state_.gradients;
  OptimizerStore<R>& optimizer_ = state_.optimizer;
  ActivationStore<R>& activations_ = state_.activations;
  ScalarStore<R>& scalars_ = state_.scalars;
  StepDecision decision_{comm_, scalars_.get(), scalars_.counters(), metrics_of<objective_of<R>>.size(),
                         plan::any_auxiliary_loss<R>};
};

}  // namespace monomorph::train
