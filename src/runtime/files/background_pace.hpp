#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

namespace monomorph::runtime {

/// Spreads what a thread does beside the steps over time: it takes a sixteenth of a core, and of all that the system
/// does on its behalf, unless somebody waits for it. A low priority alone does not see to that, as it does not bind the
/// system's own threads, which write what is dirty.
class BackgroundPace {
 public:
  /// To be called by the thread between small pieces of its work.
  void rest();
  /// From now on there is no rest: somebody waits.
  void hurry();

 private:
  std::mutex mutex_;
  std::condition_variable hurried_;
  bool hurries_ = false;
  std::chrono::nanoseconds worked_before_{};  ///< of the thread's time when it rested last
};

}  // namespace monomorph::runtime
