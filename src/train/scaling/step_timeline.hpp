#pragma once
#include <algorithm>

namespace monomorph::train {

/// A rank's two queues: kernels, and the collectives beside them, one after the other. While a collective is under way
/// kernels take longer, as it uses multiprocessors and memory, too.
class StepTimeline {
 public:
  explicit StepTimeline(double contention) : slower_(1 + contention) {}

  /// Kernels that would take so long alone.
  void compute(double seconds) {
    const double slowed = std::min(seconds * slower_, std::max(0.0, communication_ends_ - now_));
    now_ += slowed + (seconds - slowed / slower_);
  }
  /// @return when it ends: kernels that were given before need not have
  double communicate(double seconds) {
    if (seconds == 0) return now_;
    communication_ += seconds;
    communication_ends_ = std::max(communication_ends_, now_) + seconds;
    return communication_ends_;
  }
  /// Kernels that are given from now on begin no earlier.
  void wait(double until) {
    exposed_ += std::max(0.0, until - now_);
    now_ = std::max(now_, until);
  }
  void wait_for_all() { wait(communication_ends_); }

  double now() const { return now_; }
  double communication() const { return communication_; }  ///< seconds of all collectives
  double exposed() const { return exposed_; }              ///< seconds in which kernels have waited

 private:
  double slower_, now_ = 0, communication_ = 0, communication_ends_ = 0, exposed_ = 0;
};

}  // namespace monomorph::train
