#pragma once
#include <algorithm>

namespace monomorph::train {

/// A rank's two queues: kernels, and the collectives beside them, one after the other. A collective reads and writes
/// the GPU's memory, too, which kernels must wait for.
class StepTimeline {
 public:
  void compute(double seconds) { now_ += seconds; }
  /// @param copying seconds that it takes of the memory's bandwidth, which kernels lack
  /// @return when it ends: kernels that were given before need not have
  double communicate(double seconds, double copying = 0) {
    if (seconds == 0) return now_;
    communication_ += seconds;
    communication_ends_ = std::max(communication_ends_, now_) + seconds;
    now_ += copying;
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
  double now_ = 0, communication_ = 0, communication_ends_ = 0, exposed_ = 0;
};

}  // namespace monomorph::train
