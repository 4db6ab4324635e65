#pragma once
#include <chrono>
#include <monomorph/core/dtype.hpp>
#include <monomorph/plan/flops.hpp>
#include <monomorph/train/report/peak_flops.hpp>
#include <optional>

namespace monomorph::train {

/// Tokens per second, MFU and time left, over the time since the last report. The steps' own time counts, evaluation
/// and checkpoints do not.
class Throughput {
 public:
  /// @param ranks that compute: tokens are all of theirs, and MFU is relative to what as many could do
  /// @param gpu that each rank computes on, as the driver names it; empty if they compute on processors
  Throughput(plan::FlopsPerToken flops, DType compute, int ranks, std::string_view gpu = {});

  void step_began();
  /// @param tokens that were computed, whether they counted in the loss or not
  void step_ended(std::int64_t tokens, double data_wait_seconds);

  struct Rates {
    double tokens_per_second = 0, data_wait_fraction = 0;
    std::optional<double> mfu, mfu_palm, seconds_left;
  };
  /// Rates since the last call, which begins a new interval. A GPU's peak is that of its data sheet, and absent if it
  /// is in no table; that of processors is measured at the second call.
  Rates report(std::int64_t steps_left);
  /// The peak of one rank, once it is known. It is never less than the run itself has reached, as its measurement may
  /// have been disturbed.
  const std::optional<PeakFlops>& peak() const { return peak_; }

 private:
  void update_peak(double reached);

  plan::FlopsPerToken flops_;
  DType compute_;
  int ranks_;
  bool measures_;
  std::chrono::steady_clock::time_point began_;
  double seconds_ = 0, waited_ = 0;
  std::int64_t tokens_ = 0, steps_ = 0, reports_ = 0;
  std::optional<PeakFlops> peak_;
};

}  // namespace monomorph::train
