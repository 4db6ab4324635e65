#pragma once
#include <monomorph/runtime/machine/computed_by.hpp>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace monomorph::runtime {

/// Spreads what a thread does beside steps that the processor computes over time: it takes a thirty-second of a core,
/// and of all that the system does on its behalf, unless somebody waits for it. A low priority alone does not see to
/// that, as it does not bind the system's own threads, which write what is dirty.
class BackgroundPace {
 public:
  explicit BackgroundPace(ComputedBy steps) : hurries_(steps == ComputedBy::device) {}
  /// To be called by the thread between small pieces of its work.
  void rest();
  /// From now on there is no rest: somebody waits.
  void hurry();

 private:
  std::mutex mutex_;
  std::condition_variable hurried_;
  bool hurries_;
  std::chrono::nanoseconds worked_before_{};  ///< of the thread's time when it rested last
};

}  // namespace monomorph::runtime
