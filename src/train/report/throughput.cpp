#include "train/report/throughput.hpp"

#include <monomorph/runtime/kernels/linear.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace monomorph::train {
namespace {

/// Square products of at most this size: bigger ones are made of several, so that measuring takes little memory.
constexpr std::int64_t block = 1024;

PeakFlops measure(DType dtype) {
  std::vector<std::byte> memory(3 * block * block * size_of(dtype) + 64);
  const auto aligned = memory.data() + (64 - reinterpret_cast<std::uintptr_t>(memory.data()) % 64) % 64;
  const auto square = [&](int i, std::int64_t n) {
    return View{aligned + i * block * block * size_of(dtype), dtype, {n, n}};
  };
  return measure_peak([&](std::int64_t m, std::int64_t, std::int64_t) {
    const std::int64_t n = std::min(m, block), times = (m / n) * (m / n) * (m / n);
    for (std::int64_t i = 0; i < times; ++i) cpu::linear(cpu::Queue{}, square(0, n), square(1, n), {}, square(2, n));
  });
}

}  // namespace

Throughput::Throughput(plan::FlopsPerToken flops, DType products, int ranks, std::string_view gpu,
                       std::optional<double> roof_seconds, std::int64_t n_params)
    : flops_(flops),
      compute_(size_of(products) == 1 ? DType::bf16 : products),
      ranks_(ranks),
      measures_(gpu.empty()),
      roof_seconds_(roof_seconds),
      n_params_(n_params) {
  if (!measures_) peak_ = peak_from_table(gpu, matmul_type(products));
}

void Throughput::step_began() { began_ = std::chrono::steady_clock::now(); }

void Throughput::step_ended(std::int64_t tokens, double data_wait_seconds) {
  seconds_ += seconds_since(began_);
  waited_ += data_wait_seconds;
  tokens_ += tokens;
  ++steps_;
}

/// Measures again if the run is faster than the peak: a measurement takes a tenth of a second and is too low if another
/// program used the cores meanwhile.
void Throughput::update_peak(double reached) {
  if (peak_ && reached <= peak_->per_second) return;
  const PeakFlops measured = measure(compute_);
  if (!peak_ || measured.per_second > peak_->per_second) peak_ = measured;
  peak_->per_second = std::max(peak_->per_second, reached);
}

Throughput::Rates Throughput::report(std::int64_t steps_left) {
  Rates rates;
  if (steps_ == 0) return rates;
  rates.tokens_per_second = static_cast<double>(tokens_) / seconds_;
  if (++reports_ >= 2 && measures_) update_peak(rates.tokens_per_second * flops_.exact / ranks_);
  rates.data_wait_fraction = waited_ / seconds_;
  if (peak_) {
    const double peak = ranks_ * peak_->per_second;
    rates.mfu = rates.tokens_per_second * flops_.exact / peak;
    rates.mfu_palm = rates.tokens_per_second * flops_.palm / peak;
    rates.mfu_6n = rates.tokens_per_second * 6 * static_cast<double>(n_params_) / peak;
    rates.hfu = rates.tokens_per_second * flops_.hardware / peak;
  }
  const double step_seconds = seconds_ / static_cast<double>(steps_);
  if (roof_seconds_) rates.roof_fraction = *roof_seconds_ / step_seconds;
  const auto [evaluation_seconds, checkpoint_seconds] = std::exchange(excluded_seconds_, {});
  rates.evaluation_seconds = evaluation_seconds, rates.checkpoint_seconds = checkpoint_seconds;
  if (reports_ >= 2) rates.seconds_left = step_seconds * static_cast<double>(steps_left);
  seconds_ = waited_ = 0;
  tokens_ = steps_ = 0;
  return rates;
}

}  // namespace monomorph::train
