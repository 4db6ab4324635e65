#pragma once
#include <monomorph/model/autograd_tape.hpp>
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/plan/memory.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/train/step/cached_decoder.hpp>
#include <monomorph/train/step/gradient_tree.hpp>
#include <monomorph/train/step/unit_state.hpp>

namespace monomorph::train {

/// All memory of a rank: the arena, cut into the flat buffers that the plan foresees. State that the step's schedule
/// works on; the schedule itself is in step.hpp.
template <Recipe R> class State {
  using Precision = typename R::precision;
  using Optimizer = typename R::optimizer;
  static constexpr DType compute = Precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr bool master_copy = keeps_master_copy<Precision>, transforms_matrices = updates_matrices<Optimizer>;

 public:
  /// @param tree_levels plan::tree_levels for gradients that are added up in a fixed tree; 0 for any order
  State(const Communicator& communicator, std::int64_t micro_batch, std::uint64_t seed, int tree_levels)
      : activations(micro_batch),
        batch_(micro_batch),
        seed_(seed),
        shards_(communicator.size()),
        shard_index_(communicator.shard_index()),
        arena_(plan::memory<R>(communicator.size(), micro_batch, tree_levels).arena()) {
    for (int level = 0; level < tree_levels; ++level)
      tree_.push_back(take(shards_.shard_buffer, Precision::gradient_dtype));
    for (int u = 0; u < plan::n_units<R>; ++u) {
      units_.push_back(unit_state(u));
      gaps_.push_back(gaps(plan::unit_layout<R>(u), unsharded_gradients(u).elements()));
    }
    for (UnitState& unit : units_) initialize(unit, seed);
    if constexpr (transforms_matrices)
      for (int u = 0; u < plan::n_units<R>; ++u) transformed_.push_back(transformed_of(u));
    if constexpr (R::model.position == Position::rotary) kernels::rotary_table(R::model.rotary, cos_TH_, sin_TH_);
  }

  plan::Activations<R> activations;

  View params(int u) const { return params_[shards_.shard[u]]; }
  View gradient(int u) const { return gradients_[shards_.shard[u]]; }
  View unsharded_params(int u) const { return unsharded_params_[shards_.unsharded_params[u]]; }
  View unsharded_gradients(int u) const { return unsharded_gradients_[shards_.unsharded_gradients[u]]; }
  int gradient_slot(int u) const { return shards_.gradient_slot(u); }
  /// Zeroes what lies between the unit's tensors, where another unit's gradients may have been.
  void zero_padding(int u) const {
    for (const Slice& gap : gaps_[u]) kernels::zero(unsharded_gradients(u)[gap]);
  }
  bool accumulates_unsharded() const { return shards_.accumulates_unsharded(); }
  std::int64_t batch() const { return batch_; }
  const Arena& arena() const { return arena_; }
  View activation(Slice slice) const { return activations_[slice]; }
  View x_MD(int block) const { return activation(activations.x_MD[block]); }
  /// What an evaluation leaves: the final norm's output, and the logits of the last chunk of tokens.
  View head_in_MD() const { return activation(activations.head_in_MD); }
  View logits_CV() const { return statistics_[activations.logits_CV]; }

  /// What unit u may touch; the pass's own fields are the caller's to fill in.
  BlockTensors tensors(int u) {
    const int block = u - 1, L = plan::n_blocks<R>;
    const bool embeds = u == 0 && !R::model.tied_head, is_block = block >= 0 && block < L;
    BlockTensors t{};
    t.block = block;
    t.params = unsharded_params(u);
    t.gradients = unsharded_gradients(u);
    t.x_MD = is_block ? x_MD(block) : embeds ? View{} : x_MD(L);
    t.y_MD = is_block ? x_MD(block + 1) : x_MD(0);
    t.dx_MD = activations_[activations.dx_MD];
    t.activations = activations_;
    t.statistics = statistics_;
    t.temporary_offset = activations.temporary.offset;
    t.rotary_cos_TH = cos_TH_;
    t.rotary_sin_TH = sin_TH_;
    t.batch = batch_;
    t.tokens = R::model.context_length;
    t.recomputes = is_block && R::checkpointing::recompute(block) == Recompute::block;
    t.tape = &tape_;
    t.dropout.seed = seed_;
    t.dropout.tokens_per_sample = t.tokens;
    return t;
  }

  /// Takes the unit's gradients of one more micro-batch, which another one's will overwrite, into the tree; those of
  /// the last one join all that came before.
  void add_to_tree(int u, AccumulationStep accumulation_step) const {
    train::add_to_tree(gradient(u), accumulation_step, [&](int level) { return tree_[level][shards_.shard[u]]; });
  }
  PartialGradientNorm partial_gradient_norm(GradientNorm order, int replica, int replicas) const {
    return train::partial_gradient_norm(units_, order, replica, replicas);
  }
  using OptimizerHparams = typename Optimizer::Hparams;
  /// Whether the update of a unit transforms whole matrices: then prepare_update and transform come before update.
  bool transforms(int u) const { return transforms_matrices && !transformed_[u].matrices.empty(); }
  /// In the place of the shard's gradients comes what is to be transformed.
  void prepare_update(int u, const OptimizerHparams& hparams, const UpdateScalars& scalars) const {
    for (const plan::UpdateRun& run : units_[u].runs)
      if (Optimizer::scope(run.parameter_class) == UpdateScope::matrices)
        Optimizer::prepare(queue, element_update(units_[u], run, units_[u].gradient, Optimizer::state, seed_), hparams,
                           scalars);
  }
  /// Of a unit's whole gradients, the matrices.
  void transform(int u, const OptimizerHparams& hparams) const {
    const Transformed& of_unit = transformed_[u];
    const auto transform_one = [&](std::int64_t i) {
      const auto& [matrix, workspace] = of_unit.matrices[i];
      Optimizer::transform(queue, unsharded_gradients(u)[matrix], optimizer_workspace_[workspace], hparams);
    };
    side_by_side(queue, of_unit.n_small, transform_one);
    for (std::int64_t i = of_unit.n_small; i < std::ssize(of_unit.matrices); ++i) transform_one(i);
  }
  void update(int u, const OptimizerHparams& hparams, const UpdateScalars& scalars) const {
    for (const plan::UpdateRun& run : units_[u].runs)
      Optimizer::update(queue, element_update(units_[u], run, update_direction(u), Optimizer::state, seed_), hparams,
                        scalars);
  }
  void round_parameters() const {
    for (const UnitState& unit : units_) round(unit);
  }
  std::vector<StateTensor> parameters() const { return state_tensors(units_, &UnitState::master); }
  std::vector<StateTensor> gradients() const { return state_tensors(units_, &UnitState::gradient); }
  std::vector<StateTensor> optimizer_state() const { return optimizer_tensors(units_, Optimizer::state); }

  std::unique_ptr<Decoder> decoder() const {
    std::vector<View> params;
    params.reserve(plan::n_units<R>);
    for (int u = 0; u < plan::n_units<R>; ++u) params.push_back(unsharded_params(u));
    return std::make_unique<CachedDecoder<R>>(std::move(params), cos_TH_, sin_TH_);
  }

 private:
  static constexpr cpu::Queue queue{};

  UnitState unit_state(int u) {
    const Slice shard = shards_.shard[u];
    const std::int64_t part = shard.shape.elements();
    const ParameterLayout layout = plan::unit_layout<R>(u);
    UnitState state{.master = master_[shard],
                    .gradient = gradients_[shard],
                    .rounded = master_copy ? params_[shard] : View{},
                    .state = take_state(plan::state_elements<Optimizer>(layout, part, shards_.shards))};
    describe(layout, u, plan::n_blocks<R>, Optimizer::state, shard_index_ * part, state);
    return state;
  }

  /// Of a unit, the matrices that the optimiser transforms; of those, the first n_small side by side.
  struct Transformed {
    std::vector<plan::TransformedMatrix> matrices;
    std::int64_t n_small = 0;
  };
  static Transformed transformed_of(int u) {
    Transformed transformed;
    plan::for_each_transformed<R>(u, [&](const plan::TransformedMatrix& of) {
      transformed.matrices.push_back(of);
      if (of.matrix.shape.elements() <= plan::most_side_by_side) ++transformed.n_small;
    });
    return transformed;
  }
  /// Of a unit that was transformed, this rank's part of the whole; of any other, its reduced gradients.
  View update_direction(int u) const {
    const std::int64_t part = shards_.shard[u].shape.elements();
    return transforms(u) ? unsharded_gradients(u)[Slice{shard_index_ * part, {1, part}}] : units_[u].gradient;
  }

  View take_state(std::int64_t elements) {
    return arena_.take(elements, state_dtype<Optimizer>(Precision::master_dtype));
  }
  View take(const Layout& layout, DType dtype) { return arena_.take(layout.elements, dtype); }
  View take_table() {
    if constexpr (R::model.position != Position::rotary) return {};
    constexpr Shape shape{R::model.context_length, R::model.head_width() / 2};
    return arena_.take(align_up(shape.elements()), statistic)[Slice{0, shape}];
  }

  std::int64_t batch_;
  std::uint64_t seed_;
  plan::Shards<R> shards_;
  int shard_index_;
  Arena arena_;
  View master_ = take(shards_.shard_buffer, Precision::master_dtype);
  View params_ = master_copy ? take(shards_.shard_buffer, compute) : master_;
  View gradients_ = take(shards_.shard_buffer, Precision::gradient_dtype);
  View optimizer_workspace_ =
      take({plan::optimizer_workspace_elements<R>()}, statistics_dtype(Precision::master_dtype));
  View unsharded_params_ = shards_.shards == 1 ? params_ : take(shards_.unsharded_params_buffer, compute);
  View unsharded_gradients_ =
      shards_.shards == 1 ? gradients_ : take(shards_.unsharded_gradients_buffer, Precision::gradient_dtype);
  View activations_ = take(activations.buffer, compute);
  View statistics_ = take(activations.statistics, statistic);
  View cos_TH_ = take_table(), sin_TH_ = take_table();
  std::vector<View> tree_;  ///< by level: the sum of 2^level micro-batches
  std::vector<UnitState> units_;
  std::vector<Transformed> transformed_;  ///< by unit
  std::vector<std::vector<Slice>> gaps_;
  AutogradTape tape_;
};

}  // namespace monomorph::train
