#include "support/catch.hpp"

#include <monomorph/train/report/peak_flops.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace {

using namespace monomorph::train;

double tera_of(std::string_view device, MatmulType type) {
  const auto peak = peak_from_table(device, type);
  return peak ? peak->per_second / 1e12 : -1.0;
}

/// A device whose products run at `rate` operations per second after `start` seconds, on a clock of its own.
struct SimulatedDevice {
  double rate;
  double start;
  double now = 0.0;
  std::vector<std::int64_t> sizes{};

  PeakFlops measure() {
    return measure_peak(
        [this](std::int64_t m, std::int64_t n, std::int64_t k) {
          sizes.push_back(m);
          now += start + 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k) / rate;
        },
        [this] { return now; });
  }
};

}  // namespace

// Names as CUDA reports them; rates of the vendor's data sheets, dense, in TFLOP/s.
TEST_CASE("peak rates of known GPUs") {
  CHECK(tera_of("NVIDIA A100-SXM4-80GB", MatmulType::bf16) == Approx(312.0));
  CHECK(tera_of("NVIDIA A100-PCIE-40GB", MatmulType::tf32) == Approx(156.0));
  CHECK(tera_of("NVIDIA A100 80GB PCIe", MatmulType::fp32) == Approx(19.5));
  CHECK(tera_of("NVIDIA H100 80GB HBM3", MatmulType::bf16) == Approx(989.4));
  CHECK(tera_of("NVIDIA H100 PCIe", MatmulType::bf16) == Approx(756.0));
  CHECK(tera_of("NVIDIA H100 NVL", MatmulType::bf16) == Approx(835.5));
  CHECK(tera_of("NVIDIA H200", MatmulType::fp8) == Approx(1978.9));
  CHECK(tera_of("NVIDIA GH200 480GB", MatmulType::bf16) == Approx(989.4));
  CHECK(tera_of("NVIDIA B200", MatmulType::bf16) == Approx(2250.0));
  CHECK(tera_of("NVIDIA L40S", MatmulType::bf16) == Approx(362.05));
  CHECK(tera_of("NVIDIA L4", MatmulType::bf16) == Approx(121.0));
  CHECK(tera_of("NVIDIA GeForce RTX 4090", MatmulType::bf16) == Approx(165.2));
  CHECK(tera_of("NVIDIA GeForce RTX 3090", MatmulType::fp16) == Approx(71.0));
  CHECK(tera_of("NVIDIA GeForce RTX 3090 Ti", MatmulType::fp16) == Approx(80.0));
  CHECK(tera_of("Tesla V100-SXM2-16GB", MatmulType::fp16) == Approx(125.0));
  CHECK(tera_of("Tesla V100-PCIE-32GB", MatmulType::fp16) == Approx(112.0));
  CHECK(tera_of("NVIDIA A10", MatmulType::bf16) == Approx(125.0));
  CHECK(tera_of("Tesla T4", MatmulType::fp16) == Approx(65.0));
  CHECK(peak_from_table("NVIDIA H200", MatmulType::bf16)->source == "H200");
}

TEST_CASE("a device that only resembles one of the table is not in it, nor are units that it lacks") {
  for (const char* const device :
       {"", "NVIDIA", "Tesla V100S-PCIE-32GB", "NVIDIA A10G", "NVIDIA A100-SXM4-40GB MIG 1g.5gb",
        "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D", "NVIDIA H20", "NVIDIA L400",
        "AMD Instinct MI300X", "Intel(R) Xeon(R) Processor"}) {
    CAPTURE(device);
    CHECK_FALSE(peak_from_table(device, MatmulType::fp16).has_value());
  }
  CHECK_FALSE(peak_from_table("Tesla V100-SXM2-16GB", MatmulType::bf16).has_value());
  CHECK_FALSE(peak_from_table("Tesla T4", MatmulType::tf32).has_value());
  CHECK_FALSE(peak_from_table("NVIDIA A100-SXM4-80GB", MatmulType::fp8).has_value());
}

TEST_CASE("the measured peak is the device's rate, found within the budget") {
  for (const double rate : {5e9, 85e9, 1e12, 400e12}) {
    SimulatedDevice device{.rate = rate, .start = 1e-6};
    const PeakFlops peak = device.measure();
    CHECK(peak.source == "measured");
    CHECK(peak.per_second <= rate);
    CHECK(peak.per_second > 0.8 * rate);
    CHECK(device.now < 0.25);
    CHECK(*std::ranges::max_element(device.sizes) <= largest_measured_size);
  }
}

TEST_CASE("a very slow device is measured with its smallest product, twice") {
  SimulatedDevice device{.rate = 1e8, .start = 0.0};
  CHECK(device.measure().per_second == Approx(1e8));
  CHECK(device.sizes == std::vector<std::int64_t>{256, 256});
}

TEST_CASE("a clock that stands still measures nothing and ends") {
  const auto standing_still = [] { return 7.0; };
  CHECK(measure_peak([](std::int64_t, std::int64_t, std::int64_t) {}, standing_still).per_second == 0.0);
}
