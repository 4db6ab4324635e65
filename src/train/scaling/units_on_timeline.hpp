#pragma once
#include "train/scaling/step_timeline.hpp"

#include <monomorph/plan/layer_work.hpp>

#include <utility>
#include <vector>

namespace monomorph::train {

/// What is known of a layer and its unit before the step is simulated.
struct UnitPlan {
  double forward = 0, backward = 0;                  ///< seconds of the layer's kernels
  double gather = 0, reduce = 0, reduce_copies = 0;  ///< seconds of a collective
  double gather_copying = 0, reduce_copying = 0;     ///< seconds of the memory's bandwidth that these take
  double update = 0;                                 ///< seconds of the optimiser's kernels on a rank's shard
  double transform = 0;                              ///< likewise, on the unit's whole matrices
  double exchange = 0;                               ///< of the collective before that, or behind it
  double exchange_copying = 0;                       ///< seconds of the memory's bandwidth that this takes
  plan::LayerWork work;
};

/// The units of a model on a rank's timeline, gathered and released as train/step/parameter_store.hpp does it.
class UnitsOnTimeline {
 public:
  /// @param releases whether units must be gathered again for every pass
  UnitsOnTimeline(std::vector<UnitPlan> units, bool releases, StepTimeline& timeline)
      : units_(std::move(units)), releases_(releases), timeline_(timeline), states_(units_.size()) {}

  const UnitPlan& operator[](int layer) const { return units_[layer]; }
  int last() const { return static_cast<int>(units_.size()) - 1; }
  /// A tied head uses the unit of the first layer.
  bool is_own(int layer) const { return unit(layer) == layer; }
  bool releases() const { return releases_; }

  void collect(int layer) {
    const int u = unit(layer);
    if (std::exchange(states_[u].there, true)) return;
    states_[u].ready = timeline_.communicate(units_[u].gather, units_[u].gather_copying);
  }
  void await(int layer) { timeline_.wait(states_[unit(layer)].ready); }
  /// A unit that two layers share stays until the second one is through.
  void release(int layer, bool is_last_use) {
    const plan::LayerWork& work = units_[unit(layer)].work;
    const bool stays = work.is_resident && !work.is_trained;
    if (releases_ && is_last_use && !stays) states_[unit(layer)].there = false;
  }
  /// After an update what was gathered is not true any more.
  void changed(int layer) { states_[unit(layer)].there = false; }

  /// From the first layer to the one before the last, which stays there as the last one does.
  void forward() {
    for (int i = 0; i < last(); ++i) {
      collect(i);
      collect(i + 1);
      await(i);
      timeline_.compute(units_[i].forward);
      if (i < last() - 1) release(i, i > 0 || is_own(last()));
    }
  }

 private:
  struct UnitState {
    bool there = false;
    double ready = 0;  ///< when its gathering ends
  };
  int unit(int layer) const { return units_[layer].work.unit_elements > 0 ? layer : 0; }

  std::vector<UnitPlan> units_;
  bool releases_;
  StepTimeline& timeline_;
  std::vector<UnitState> states_;
};

}  // namespace monomorph::train
