#pragma once
#include "support/communicators.hpp"

#include <monomorph/runtime/machine/trace.hpp>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace monomorph::testing {

/// A communicator whose collectives are as late as they may be: they run when somebody waits for their unit. To a
/// trace they are on their way all the time from their start until then.
class LateCommunicator final : public ForwardingCommunicator {
 public:
  using ForwardingCommunicator::ForwardingCommunicator;

 private:
  void start_all_gather(std::span<const UnitGather> units) override {
    for (const UnitGather& one : units)
      delay(TraceRow::all_gather, one.unit,
            [this, one] { communicator().all_gather(one.unit, one.shard, one.unsharded); });
  }
  void start_reduce_scatter(int unit, View unsharded, View shard, Reduction reduction) override {
    delay(TraceRow::reduce_scatter, unit, [this, unit, unsharded, shard, reduction] {
      communicator().reduce_scatter(unit, unsharded, shard, reduction);
    });
  }
  void start_all_to_all(int unit, std::span<const View> sent, std::span<const View> received) override {
    exchanges_.push_back(unit);
    delay(TraceRow::all_gather, unit,
          [this, unit, sent, received] { communicator().all_to_all(unit, sent, received); });
  }
  void delay(TraceRow row, int unit, const std::function<void()>& collective) {
    late_[unit].emplace_back([this, row, unit, collective, begin = Trace::Clock::now()] {
      collective();
      communicator().wait(unit);
      if (trace()) trace()->add(row, "late", unit, begin, Trace::Clock::now());
    });
  }
  void finish(int unit) override {
    while (std::ranges::find(exchanges_, unit) != exchanges_.end()) {  // which keep their order
      const int first = exchanges_.front();
      exchanges_.pop_front();
      run(first);
    }
    run(unit);
  }
  void run(int unit) {
    for (const auto& collective : std::exchange(late_[unit], {})) collective();
  }

  std::deque<int> exchanges_;  ///< that are delayed, by unit
  std::map<int, std::vector<std::function<void()>>> late_;
};

}  // namespace monomorph::testing
