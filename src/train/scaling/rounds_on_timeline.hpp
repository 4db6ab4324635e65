#pragma once
#include "train/scaling/units_on_timeline.hpp"

#include <monomorph/plan/transform_turns.hpp>

namespace monomorph::train {

/// The rounds in which units are transformed, on the timeline of a rank that has the longest one of each, as
/// train/step/transforms_in_turns.hpp orders them; or, one unit after the other, as transforms_of_all.hpp does.
class RoundsOnTimeline {
 public:
  /// @param shared whether ranks share the work, or else each transforms all units, which it gathers
  RoundsOnTimeline(const UnitsOnTimeline& units, int ranks, bool shared, StepTimeline& timeline)
      : timeline_(timeline), gives_back_(shared && ranks > 1) {
    for (int u = 0, i = 0; u <= units.last(); ++u) {
      const UnitPlan& unit = units[u];
      if (!unit.work.needs_whole_gradients || !unit.work.is_trained) continue;
      if (plan::transform_turn(i++, shared ? ranks : 1).rank == 0) rounds_.push_back({.first = u});
      Round& round = rounds_.back();
      round.transform = std::max(round.transform, unit.transform);
      round.exchange = std::max(round.exchange, unit.exchange);
      round.copying = std::max(round.copying, unit.exchange_copying);
    }
  }

  double transform_seconds() const {
    double seconds = 0;
    for (const Round& round : rounds_) seconds += round.transform;
    return seconds;
  }
  void begin() {
    next_ = 0;
    collect(0);
    if (gives_back_) transform(0);
  }
  void before_update(int unit) {
    if (next_ == size() || rounds_[next_].first != unit) return;
    transform(next_ + (gives_back_ ? 1 : 0));
    timeline_.wait(rounds_[next_++].there);
  }

 private:
  struct Round {
    int first = 0;                     ///< unit
    double exchange = 0, copying = 0;  ///< seconds of one way, and of the memory's bandwidth that it takes
    double transform = 0;              ///< seconds of kernels
    double collected = 0, there = 0;   ///< when it is whole at the rank, and when the update may use it
  };
  std::size_t size() const { return rounds_.size(); }
  void collect(std::size_t k) {
    if (k < size()) rounds_[k].collected = timeline_.communicate(rounds_[k].exchange, rounds_[k].copying);
  }
  void transform(std::size_t k) {
    if (k >= size()) return;
    collect(k + 1);
    Round& round = rounds_[k];
    timeline_.wait(round.collected);
    timeline_.compute(round.transform);
    round.there = gives_back_ ? timeline_.communicate(round.exchange, round.copying) : timeline_.now();
  }

  StepTimeline& timeline_;
  bool gives_back_;
  std::vector<Round> rounds_;
  std::size_t next_ = 0;  ///< round to be updated
};

}  // namespace monomorph::train
