#pragma once
#include <monomorph/plan/units.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/comm/communicator.hpp>
#include <monomorph/train/step/unit_views.hpp>
#include <utility>

namespace monomorph::train {

/// The parameters that compute reads. The sharding policy says what ranks split; here is when they collect it: a unit
/// that is about to be used is there, and the next one is on its way while it is used.
template <Recipe R> class ParameterStore {
  static constexpr int n_units = plan::n_units<R>, first_block = plan::unit_of_block(0),
                       last_block = plan::unit_of_block(plan::n_blocks<R> - 1);
  static constexpr bool gathers = splits_optimizer<typename R::sharding>, releases = R::sharding::splits_parameters;

 public:
  ParameterStore(Communicator& communicator, const plan::Shards<R>& shards, Arena& arena)
      : comm_(communicator),
        views_(shards.params, shards.part, communicator.shard_index(), arena, R::precision::compute_dtype) {}

  View whole(int u) const { return views_.whole(u); }
  View shard(int u) const { return views_.shard(u); }

  void before_forward(int u) {
    if constexpr (gathers) {
      gather(u);
      if (u < n_units - 1) gather(u + 1);
      comm_.wait(u);
    }
  }
  void after_forward(int u) {
    const bool stays = plan::Shards<R>::resident(u) || (u == last_block && plan::backward_reaches<R>(u));
    if (!stays) release(u);
  }
  /// The head's are on their way since the last block began, or have been there since the embedding.
  void before_head() {
    if constexpr (gathers) comm_.wait(plan::head_unit<R>);
  }
  void before_backward(int u) {
    if constexpr (releases) {
      if (u > first_block && plan::backward_reaches<R>(u - 1)) gather(u - 1);
      comm_.wait(u);
    }
  }
  void after_backward(int u) { release(u); }
  /// An evaluation has no backward, which would release these.
  void after_evaluation() {
    for (const int u : {last_block, plan::head_unit<R>}) release(u);
  }
  /// What the next step begins with is collected while other units are updated.
  void updated(int u) {
    if constexpr (gathers) {
      if (plan::trains<R>(u)) there_[u] = false;
      if (!releases || u <= first_block) gather(u);
    }
  }
  /// After a load: what was collected is not true any more.   The caller has waited for every unit.
  void changed() { there_ = {}; }

 private:
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

  Communicator& comm_;
  UnitViews<n_units> views_;
  std::array<bool, n_units> there_{};
};

}  // namespace monomorph::train
