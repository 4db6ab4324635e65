#pragma once
#include <monomorph/plan/units.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/queued_communicator.hpp>
#include <monomorph/train/step/unit_views.hpp>
#include <utility>

namespace monomorph::train {

/// The parameters that compute reads. The sharding policy says what ranks split; here is when they collect it: a unit
/// that is about to be used is there, and the next one is on its way while it is used.
template <Recipe R> class ParameterStore {
  using Collectives = QueuedCommunicator<typename device_of<R>::Queue>;
  static constexpr int n_units = plan::n_units<R>, last_layer = plan::last_layer<R>;
  static constexpr bool gathers = splits_optimizer<typename R::sharding>, releases = R::sharding::splits_parameters;

 public:
  ParameterStore(const Collectives& collectives, const plan::Shards<R>& shards, Arena& arena)
      : comm_(collectives),
        views_(shards.params, shards.part, collectives.shard_index(), arena, R::precision::compute_dtype) {}

  View whole(int u) const { return views_.whole(u); }
  View shard(int u) const { return views_.shard(u); }

  void before_forward(int layer) {
    if constexpr (gathers) {
      gather(unit(layer));
      if (layer < last_layer) gather(unit(layer + 1));
      comm_.wait(unit(layer));
    }
  }
  void after_forward(int layer) {
    if (plan::last_uses_unit<R>(layer) && !begins_backward(layer)) release(unit(layer));
  }
  void before_backward(int layer) {
    if constexpr (releases)
      if (layer > 0 && plan::backward_reaches<R>(layer - 1) && backward_reads(layer - 1)) gather(unit(layer - 1));
    if constexpr (gathers) comm_.wait(unit(layer));
  }
  void after_backward(int layer) {
    if (plan::first_uses_unit<R>(layer)) release(unit(layer));
  }
  /// An evaluation has no backward, which would release these.
  void after_evaluation() {
    for (const int layer : {last_layer - 1, last_layer})
      if (begins_backward(layer)) release(unit(layer));
  }
  /// What the next step begins with is collected while other units are updated.
  void updated(int u) {
    if constexpr (gathers) {
      if (plan::trains<R>(u)) there_[u] = false;
      if (!releases || u <= 1) gather(u);
    }
  }
  /// After a load: what was collected is not true any more.   The caller has waited for every unit.
  void changed() { there_ = {}; }

 private:
  static constexpr int unit(int layer) { return plan::unit_of_layer<R>(layer); }
  /// What backward begins with stays: the last layer, and the one before, which it would not have time to collect.
  static constexpr bool begins_backward(int layer) {
    return layer >= last_layer - 1 && plan::backward_reaches<R>(layer);
  }
  static constexpr bool backward_reads(int layer) {
    bool reads = true;
    with_layer<R>(layer, [&](auto l) { reads = backward_reads_params<decltype(l)>; });
    return reads;
  }
  /// Unless the unit is there or in flight already.
  void gather(int u) {
    if (!std::exchange(there_[u], true)) comm_.all_gather(u, shard(u), whole(u));
  }
  void release(int u) {
    if constexpr (releases) {
      there_[u] = false;
      comm_.release(u);
    }
  }

  Collectives comm_;
  UnitViews<n_units> views_;
  std::array<bool, n_units> there_{};
};

}  // namespace monomorph::train
