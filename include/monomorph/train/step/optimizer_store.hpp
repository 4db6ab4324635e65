#pragma once
#include <monomorph/plan/parameter_groups.hpp>
#include <monomorph/plan/transform_turns.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/memory/transfers.hpp>
#include <monomorph/train/step/gradient_norm.hpp>
#include <monomorph/train/step/gradient_store.hpp>
#include <monomorph/train/step/parameter_store.hpp>
#include <monomorph/train/step/transformed_matrices.hpp>
#include <monomorph/train/step/unit_state.hpp>

namespace monomorph::train {

/// What the optimiser keeps and changes: of each unit this rank's shard of the master parameters and of its state.
/// Frozen units have a master and no state, and what is packed has neither. Runs of elements are updated where they
/// lie, or, if that is the host's memory, in one of two places on the device; what the optimiser transforms as whole
/// matrices passes through the place of the whole gradients first. For inference the masters are what compute reads,
/// without first values, as a load fills them.
template <Recipe R> class OptimizerStore {
  using Precision = typename R::precision;
  using Optimizer = typename R::optimizer;
  using Hparams = typename Optimizer::Hparams;
  using Queue = typename device_of<R>::Queue;
  using Transfers = TransfersOf<Queue>;
  static constexpr int n_units = plan::n_stored_units<R>;
  static constexpr bool master_copy = keeps_master_copy<Precision>;
  static constexpr bool on_host = plan::OptimizerBuffers<R>::on_host;

 public:
  /// Whether some units are transformed: then prepare() and transform() come before update().
  static constexpr bool transforms_any = updates_matrices<Optimizer>;
  using Progress = std::array<bool, n_units>;  ///< as of ParameterStore

  OptimizerStore(Queue queue, const plan::Shards<R>& shards, int shard_index, std::uint64_t seed, Arena& arena,
                 Arena& host, Transfers* transfers, const ParameterStore<R>& parameters,
                 const GradientStore<R>& gradients)
      : queue_(queue),
        shards_(shards),
        shard_index_(shard_index),
        seed_(seed),
        gradients_(gradients),
        transfers_(transfers) {
    const bool trains = shards.purpose == plan::Purpose::training, has_masters = master_copy && trains;
    if constexpr (transforms_any)
      workspace_ =
          arena.take(trains ? plan::optimizer_workspace_elements<R>() : 0, statistics_dtype(Precision::master_dtype));
    const plan::OptimizerBuffers<R> buffers(shards);
    const auto take = [](Arena& from, std::int64_t masters, std::int64_t states) {
      return Buffers{from.take(masters, Precision::master_dtype),
                     from.take(states, state_dtype<Optimizer>(Precision::master_dtype))};
    };
    const Buffers device = take(arena, buffers.masters.elements, buffers.states.elements),
                  resting = on_host ? take(host, buffers.host_masters.elements, buffers.host_states.elements) : device;
    for (int u = 0; u < n_units && !plan::is_packed<R>(u); ++u) {
      units_.push_back({.master = has_masters ? resting.masters[buffers.master[u]] : parameters.shard(u),
                        .gradient = gradients.shard(u),
                        .rounded = has_masters ? parameters.shard(u) : View{},
                        .state = resting.states[buffers.state[u]]});
      const int unit = plan::unit_of_stored<R>(u);
      describe(plan::grouped<R>(plan::stored_layout<R>(u), unit), unit,
               plan::is_block<R>(unit) ? plan::block_of_layer<R>(unit) : -1,
               trains && plan::trains<R>(u) ? &state_buffers<Optimizer> : nullptr, shard_index * shards.part[u],
               units_.back());
      if (!trains) continue;
      initialize(queue, units_.back(), seed);
      round(queue, units_.back());
      if constexpr (on_host) {
        in_use_.push_back(units_.back());
        if (buffers.master_in_use[u].present()) in_use_.back().master = device.masters[buffers.master_in_use[u]];
        in_use_.back().state = device.states[buffers.state_in_use[u]];
      }
    }
    if constexpr (transforms_any)
      for (int u = 0; u < n_units; ++u)
        plan::for_each_transformed<R>(u, [&](const plan::TransformedMatrix& of) { transformed_.add(u, of); });
  }

  bool transforms(int u) const { return transforms_any && transformed_.any(u); }
  /// In the place of the shard's gradients comes what is to be transformed.
  void prepare(int u, const Hparams& hparams, const UpdateTerms& terms) {
    const UnitState& unit = on_device(u);
    update_together(queue_, [&](auto queue) {
      for (const plan::UpdateRun& run : unit.runs)
        if (update_scope<Optimizer>(run.parameter_class) == UpdateScope::matrices)
          Optimizer::prepare(queue, element_update(unit, run, unit.gradient, state_buffers<Optimizer>, seed_), hparams,
                             terms);
    });
  }
  /// Transforms the matrices of a unit.   @param whole where what was prepared of all its shards lies
  void transform(int u, View whole, const Hparams& hparams) const {
    const TransformedMatrices::OfUnit& matrices = transformed_.of(u);
    update_together(queue_, [&](auto queue) {
      const auto transform_one = [&](const plan::TransformedMatrix& of) {
        Optimizer::transform(queue, whole[of.matrix], workspace_[of.workspace], hparams);
      };
      // Batches follow each other in one scratch memory, so what they are made of is asked for in order.
      if constexpr (batch_scratch_elements<device_of<R>>() > 0)
        for (const plan::TransformedMatrix& of : matrices.side_by_side) transform_one(of);
      else
        side_by_side(queue_, std::ssize(matrices.side_by_side),
                     [&](std::int64_t i) { transform_one(matrices.side_by_side[i]); });
      for (const plan::TransformedMatrix& of : matrices.in_turn) transform_one(of);
    });
  }
  /// @param update_state of a run of tensors that the block itself updates
  void update(int u, const Hparams& hparams, const UpdateTerms& terms, auto&& update_state) {
    const UnitState& unit = on_device(u);
    if constexpr (on_host)
      if (const int next = next_trained(u); next < n_units) fetch(next);  // on its way while u is updated
    update_together(queue_, [&](auto queue) {
      for (const plan::UpdateRun& run : unit.runs) {
        if (!is_optimized(run.parameter_class)) continue;
        ElementUpdate update = element_update(unit, run, direction(u), state_buffers<Optimizer>, seed_);
        if constexpr (plan::has_groups<R>) update.multipliers = plan::multipliers<R>(u, run.group);
        Optimizer::update(queue, update, hparams, terms);
      }
    });
    // Behind the optimiser: kernels of a block's own take a plain queue, and would start what waits one by one.
    for (const plan::UpdateRun& run : unit.runs)
      if (!is_optimized(run.parameter_class))
        update_state(element_update(unit, run, direction(u), state_buffers<Optimizer>, seed_));
    if constexpr (on_host) put_back(u);
  }
  void round_parameters() const {
    for (const UnitState& unit : units_) round(queue_, unit);
  }
  void add_gradient_norm(GradientNorm order, int replica, int replicas, PartialGradientNorm* norm) const {
    train::add_gradient_norm(queue_, units_, order, replica, replicas, norm);
  }

  Progress progress() const { return set_out(fetched_); }
  /// No unit is on its way.
  void forget() { fetched_ = {}; }

  std::vector<StateTensor> parameters() const {
    settle();
    return state_tensors(units_, &UnitState::master);
  }
  std::vector<StateTensor> gradients() const { return state_tensors(units_, &UnitState::gradient); }
  std::vector<StateTensor> state() const {
    settle();
    return optimizer_tensors(units_, state_buffers<Optimizer>);
  }

 private:
  struct Buffers {
    View masters, states;
  };
  static int next_trained(int u) {
    do ++u;
    while (u < n_units && !plan::trains<R>(u));
    return u;
  }
  /// The unit as its update must find it.
  const UnitState& on_device(int u) {
    if constexpr (!on_host) return units_[u];
    fetch(u);
    transfers_->wait(fetched_[u]);
    return in_use_[u];
  }
  /// Unless it is there or in flight already. Copies follow each other, so the place's last unit has gone back before.
  void fetch(int u) {
    if (fetched_[u] == 0) fetched_[u] = copy(units_[u], in_use_[u]);
  }
  void put_back(int u) {
    copy(in_use_[u], units_[u]);
    fetched_[u] = 0;
  }
  /// @return the number of the last copy
  std::uint64_t copy(const UnitState& from, const UnitState& to) {
    std::uint64_t number = 0;
    if (from.master.data != to.master.data) number = transfers_->start(from.master, to.master);
    if (from.state.present()) number = transfers_->start(from.state, to.state);
    return number;
  }
  /// What was updated lies where it belongs.
  void settle() const {
    if constexpr (on_host) transfers_->wait_for_all();
  }

  /// What a unit is updated by: this rank's shard of the reduced gradients, or of what was transformed, which comes
  /// back to its place if ranks take turns, and else stays among the whole gradients.
  View direction(int u) const {
    return transforms(u) && !plan::takes_turns_to_transform<R>
               ? gradients_.whole(u).columns(shard_index_ * shards_.part[u], shards_.part[u])
               : units_[u].gradient;
  }

  Queue queue_;
  const plan::Shards<R>& shards_;
  int shard_index_;
  std::uint64_t seed_;
  const GradientStore<R>& gradients_;
  View workspace_;
  Transfers* transfers_;  ///< null if nothing lies on the host
  std::vector<UnitState> units_;
  std::vector<UnitState> in_use_;                 ///< the same on the device, if the others are on the host
  std::array<std::uint64_t, n_units> fetched_{};  ///< the copy that brought, or brings, a unit to the device; or 0
  TransformedMatrices transformed_;
};

}  // namespace monomorph::train
