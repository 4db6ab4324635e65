#pragma once
#include <monomorph/plan/memory.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/train/step/gradient_store.hpp>
#include <monomorph/train/step/parameter_store.hpp>
#include <monomorph/train/step/unit_state.hpp>

namespace monomorph::train {

/// What the optimiser keeps and changes: of each unit this rank's shard of the master parameters and of its state.
/// Frozen units have a master and no state. Runs of elements are updated where they lie; what the optimiser transforms
/// as whole matrices passes through the place of the whole gradients first.
template <Recipe R> class OptimizerStore {
  using Precision = typename R::precision;
  using Optimizer = typename R::optimizer;
  using Hparams = typename Optimizer::Hparams;
  static constexpr int n_units = plan::n_units<R>;
  static constexpr bool master_copy = keeps_master_copy<Precision>;
  static constexpr cpu::Queue queue{};

 public:
  /// Whether some units are transformed: then prepare() and transform() come before update().
  static constexpr bool transforms_any = updates_matrices<Optimizer>;

  OptimizerStore(const plan::Shards<R>& shards, int shard_index, std::uint64_t seed, Arena& arena,
                 const ParameterStore<R>& parameters, const GradientStore<R>& gradients)
      : shards_(shards), shard_index_(shard_index), seed_(seed), gradients_(gradients) {
    const View masters = master_copy ? arena.take(shards.master_buffer.elements, Precision::master_dtype) : View{};
    if constexpr (transforms_any)
      workspace_ = arena.take(plan::optimizer_workspace_elements<R>(), statistics_dtype(Precision::master_dtype));
    units_.reserve(n_units);
    for (int u = 0; u < n_units; ++u) {
      units_.push_back({.master = master_copy ? masters[shards.master[u]] : parameters.shard(u),
                        .gradient = gradients.shard(u),
                        .rounded = master_copy ? parameters.shard(u) : View{},
                        .state = take_state(u, arena)});
      describe(plan::unit_layout<R>(u), u, plan::n_blocks<R>, plan::trains<R>(u) ? &Optimizer::state : nullptr,
               shard_index * shards.part[u], units_.back());
      initialize(units_.back(), seed);
    }
    if constexpr (transforms_any)
      for (int u = 0; u < n_units; ++u) transformed_.push_back(transformed_of(u));
  }

  bool transforms(int u) const { return transforms_any && !transformed_[u].matrices.empty(); }
  /// In the place of the shard's gradients comes what is to be transformed.
  void prepare(int u, const Hparams& hparams, const UpdateScalars& scalars) const {
    for (const plan::UpdateRun& run : units_[u].runs)
      if (Optimizer::scope(run.parameter_class) == UpdateScope::matrices)
        Optimizer::prepare(queue, element_update(units_[u], run, units_[u].gradient, Optimizer::state, seed_), hparams,
                           scalars);
  }
  /// Of a unit's whole gradients, the matrices.
  void transform(int u, const Hparams& hparams) const {
    const Transformed& of_unit = transformed_[u];
    const auto transform_one = [&](std::int64_t i) {
      const auto& [matrix, workspace] = of_unit.matrices[i];
      Optimizer::transform(queue, gradients_.whole(u)[matrix], workspace_[workspace], hparams);
    };
    side_by_side(queue, of_unit.n_small, transform_one);
    for (std::int64_t i = of_unit.n_small; i < std::ssize(of_unit.matrices); ++i) transform_one(i);
  }
  void update(int u, const Hparams& hparams, const UpdateScalars& scalars) const {
    for (const plan::UpdateRun& run : units_[u].runs)
      Optimizer::update(queue, element_update(units_[u], run, direction(u), Optimizer::state, seed_), hparams, scalars);
  }
  void round_parameters() const {
    for (const UnitState& unit : units_) round(unit);
  }
  PartialGradientNorm partial_gradient_norm(GradientNorm order, int replica, int replicas) const {
    return train::partial_gradient_norm(units_, order, replica, replicas);
  }

  std::vector<StateTensor> parameters() const { return state_tensors(units_, &UnitState::master); }
  std::vector<StateTensor> gradients() const { return state_tensors(units_, &UnitState::gradient); }
  std::vector<StateTensor> state() const { return optimizer_tensors(units_, Optimizer::state); }

 private:
  View take_state(int u, Arena& arena) const {
    if (!plan::trains<R>(u)) return {};
    return arena.take(plan::state_elements<Optimizer>(plan::unit_layout<R>(u), shards_.part[u], shards_.shards),
                      state_dtype<Optimizer>(Precision::master_dtype));
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
  View direction(int u) const {
    return transforms(u) ? gradients_.whole(u).columns(shard_index_ * shards_.part[u], shards_.part[u])
                         : units_[u].gradient;
  }

  const plan::Shards<R>& shards_;
  int shard_index_;
  std::uint64_t seed_;
  const GradientStore<R>& gradients_;
  View workspace_;
  std::vector<UnitState> units_;
  std::vector<Transformed> transformed_;  ///< by unit
};

}  // namespace monomorph::train
