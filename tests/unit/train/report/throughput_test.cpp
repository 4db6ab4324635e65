#include "train/report/throughput.hpp"

#include "support/catch.hpp"

#include <chrono>
#include <thread>

using monomorph::DType;
using monomorph::train::Throughput;

namespace {

constexpr monomorph::plan::FlopsPerToken flops{.palm = 6e6, .exact = 5e6, .hardware = 7e6};

void take_step(Throughput& throughput, std::int64_t tokens, double waited) {
  throughput.step_began();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  throughput.step_ended(tokens, waited);
}

}  // namespace

TEST_CASE("nothing is known before the first step") {
  Throughput throughput(flops, DType::fp32, 1);
  const auto rates = throughput.report(10);
  CHECK(rates.tokens_per_second == 0);
  CHECK_FALSE(rates.mfu.has_value());
  CHECK_FALSE(rates.seconds_left.has_value());
}

TEST_CASE("the peak is measured at the second report, and MFU is relative to it in all definitions") {
  Throughput throughput(flops, DType::fp32, 1, {}, std::nullopt, 1'000'000);
  take_step(throughput, 1000, 0.0005);
  const auto first = throughput.report(9);
  CHECK(first.tokens_per_second > 0);
  CHECK(first.data_wait_fraction > 0);
  CHECK(first.data_wait_fraction <= 0.25);  // 0.5 ms of 2 ms or more
  CHECK_FALSE(first.mfu.has_value());
  CHECK_FALSE(throughput.peak().has_value());

  take_step(throughput, 1000, 0);
  const auto second = throughput.report(8);
  REQUIRE(throughput.peak().has_value());
  CHECK(throughput.peak()->per_second > 0);
  CHECK(throughput.peak()->source == "measured");
  CHECK(second.mfu.value() == Approx(second.tokens_per_second * flops.exact / throughput.peak()->per_second));
  CHECK(second.mfu_palm.value() == Approx(1.2 * second.mfu.value()));
  CHECK(second.mfu_6n.value() == Approx(1.2 * second.mfu.value()));
  CHECK(second.hfu.value() == Approx(1.4 * second.mfu.value()));
  CHECK_FALSE(second.roof_fraction);
  CHECK(second.data_wait_fraction == 0);
  CHECK(second.seconds_left.value() >= 8 * 0.002);
}

TEST_CASE("what a run has reached is no less than the peak, however the measurement was disturbed") {
  constexpr monomorph::plan::FlopsPerToken beyond_measure{.palm = 1e18, .exact = 1e18};
  Throughput throughput(beyond_measure, DType::fp32, 1);
  take_step(throughput, 1000, 0);
  throughput.report(2);
  for (const std::int64_t left : {1, 0}) {
    take_step(throughput, 1000, 0);
    const auto rates = throughput.report(left);
    CHECK(rates.mfu.value() > 0);
    CHECK(rates.mfu.value() <= 1);
  }
}

TEST_CASE("a report is of the steps since the one before") {
  Throughput throughput(flops, DType::fp32, 1);
  take_step(throughput, 1'000'000, 0);
  const double before = throughput.report(5).tokens_per_second;
  take_step(throughput, 0, 0);
  CHECK(before > 0);
  CHECK(throughput.report(4).tokens_per_second == 0);
}

TEST_CASE("MFU of several ranks is relative to what as many could do") {
  Throughput throughput(flops, DType::fp32, 4);
  for (int i = 0; i < 2; ++i) {
    take_step(throughput, 1000, 0);
    if (i == 0) throughput.report(9);
  }
  const auto rates = throughput.report(8);
  CHECK(4 * rates.mfu.value() == Approx(rates.tokens_per_second * flops.exact / throughput.peak()->per_second));
}

TEST_CASE("the share of the roof is that of a step's time, without evaluations and checkpoints") {
  constexpr double roof_seconds = 1e-3;
  Throughput throughput(flops, DType::bf16, 1, "NVIDIA H100 80GB HBM3", roof_seconds);
  const auto sleep = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  for (int i = 0; i < 2; ++i) take_step(throughput, 1000, 0);
  throughput.take_time(Throughput::Excluded::evaluation, sleep);
  throughput.take_time(Throughput::Excluded::checkpoint, sleep);
  throughput.take_time(Throughput::Excluded::checkpoint, sleep);
  const auto rates = throughput.report(1);
  CHECK(rates.roof_fraction.value() == Approx(roof_seconds * rates.tokens_per_second / 1000));
  CHECK(rates.roof_fraction.value() <= 0.5);
  CHECK(rates.evaluation_seconds >= 0.02);
  CHECK(rates.checkpoint_seconds >= 0.04);
  CHECK(rates.checkpoint_seconds > rates.evaluation_seconds);
  take_step(throughput, 1000, 0);
  CHECK(throughput.report(0).evaluation_seconds == 0);
}
