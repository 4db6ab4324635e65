#pragma once
#include <array>
#include <chrono>
#include <monomorph/core/dtype.hpp>
#include <monomorph/plan/flops.hpp>
#include <monomorph/train/report/peak_flops.hpp>
#include <optional>

namespace monomorph::train {

/// Tokens per second, utilisation and time left, over the time since the last report. The steps' own time counts;
/// that of evaluations and checkpoints is told apart.
class Throughput {
 public:
  /// What the steps' own time excludes.
  enum class Excluded { evaluation, checkpoint };

  /// @param ranks that compute: tokens are all of theirs, and MFU is relative to what as many could do
  /// @param gpu that each rank computes on, as the driver names it; empty if they compute on processors
  /// @param roof_seconds of a step, where the roof is known   @param n_params all, for a count of 6 N
  Throughput(plan::FlopsPerToken flops, DType products, int ranks, std::string_view gpu = {},
             std::optional<double> roof_seconds = std::nullopt, std::int64_t n_params = 0);

  void step_began();
  /// @param tokens that were computed, whether they counted in the loss or not
  void step_ended(std::int64_t tokens, double data_wait_seconds);

  /// Calls f, which is no part of a step.
  template <class F> void take_time(Excluded what, F&& f) {
    const auto began = std::chrono::steady_clock::now();
    f();
    excluded_seconds_[static_cast<std::size_t>(what)] += seconds_since(began);
  }

  struct Rates {
    double tokens_per_second = 0, data_wait_fraction = 0;
    std::optional<double> mfu, mfu_palm, hfu;  ///< by the counts of plan::FlopsPerToken
    std::optional<double> mfu_6n;              ///< by 6 N
    std::optional<double> roof_fraction;       ///< the roof over the time of a step
    double evaluation_seconds = 0, checkpoint_seconds = 0;
    std::optional<double> seconds_left;
  };
  /// Rates since the last call, which begins a new interval. A GPU's peak is that of its data sheet, and absent if it
  /// is in no table; that of processors is measured at the second call.
  Rates report(std::int64_t steps_left);
  /// The peak of one rank, once it is known. It is never less than the run itself has reached, as its measurement may
  /// have been disturbed.
  const std::optional<PeakFlops>& peak() const { return peak_; }

 private:
  static double seconds_since(std::chrono::steady_clock::time_point began) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  }
  void update_peak(double reached);

  plan::FlopsPerToken flops_;
  DType compute_;
  int ranks_;
  bool measures_;
  std::optional<double> roof_seconds_;
  std::int64_t n_params_;
  std::chrono::steady_clock::time_point began_;
  double seconds_ = 0, waited_ = 0;
  std::array<double, 2> excluded_seconds_{};  ///< by Excluded
  std::int64_t tokens_ = 0, steps_ = 0, reports_ = 0;
  std::optional<PeakFlops> peak_;
};

}  // namespace monomorph::train
