#include <monomorph/train/report/peak_flops.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <string>
#include <vector>

namespace monomorph::train {
namespace {

/// Dense tensor-core rates with fp32 accumulation, TFLOP/s; fp32 without tensor cores. 0: no such units.
struct Gpu {
  std::string_view words;  ///< all must occur in the device's name, as whole words
  double fp32, tf32, bf16, fp16, fp8;

  double rate(MatmulType type) const {
    switch (type) {
      case MatmulType::fp32:
        return fp32;
      case MatmulType::tf32:
        return tf32;
      case MatmulType::bf16:
        return bf16;
      case MatmulType::fp16:
        return fp16;
      case MatmulType::fp8:
        return fp8;
    }
    return 0.0;
  }
};

// NVIDIA's data sheets and architecture white papers. Where only the rate with 2:4 sparsity is given, half of it.
constexpr Gpu gpus[] = {
    {"GB200", 80.0, 1250.0, 2500.0, 2500.0, 5000.0},   // GB200 NVL72 data sheet, one of the 72 GPUs
    {"B200", 75.0, 1100.0, 2250.0, 2250.0, 4500.0},    // HGX B200 data sheet, one of the 8 GPUs
    {"GH200", 66.9, 494.7, 989.4, 989.4, 1978.9},      // GH200 data sheet: an H100 SXM
    {"H200 NVL", 60.0, 417.5, 835.5, 835.5, 1670.5},   // H200 data sheet
    {"H200", 66.9, 494.7, 989.4, 989.4, 1978.9},       // H200 data sheet, SXM
    {"H100 PCIe", 51.2, 378.0, 756.0, 756.0, 1513.0},  // H100 white paper
    {"H100 NVL", 60.0, 417.5, 835.5, 835.5, 1670.5},   // H100 data sheet
    {"H100", 66.9, 494.7, 989.4, 989.4, 1978.9},       // H100 white paper, SXM5
    {"A100", 19.5, 156.0, 312.0, 312.0, 0.0},          // A100 data sheet
    {"A40", 37.4, 74.8, 149.7, 149.7, 0.0},            // A40 data sheet
    {"A30", 10.3, 82.0, 165.0, 165.0, 0.0},            // A30 data sheet
    {"A10", 31.2, 62.5, 125.0, 125.0, 0.0},            // A10 data sheet
    {"L40S", 91.6, 183.0, 362.05, 362.05, 733.0},      // L40S data sheet
    {"L40", 90.5, 90.5, 181.05, 181.05, 362.0},        // L40 data sheet
    {"L4", 30.3, 60.0, 121.0, 121.0, 242.5},           // L4 data sheet
    {"RTX 4090", 82.6, 82.6, 165.2, 165.2, 330.3},     // Ada white paper, fp32 accumulation
    {"RTX 3090 Ti", 40.0, 40.0, 80.0, 80.0, 0.0},      // Ampere GA102 white paper, fp32 accumulation
    {"RTX 3090", 35.6, 35.6, 71.0, 71.0, 0.0},         // Ampere GA102 white paper, fp32 accumulation
    {"V100 PCIE", 14.0, 0.0, 0.0, 112.0, 0.0},         // V100 data sheet
    {"V100", 15.7, 0.0, 0.0, 125.0, 0.0},              // V100 data sheet, SXM2
    {"T4", 8.1, 0.0, 0.0, 65.0, 0.0},                  // T4 data sheet
};

/// Words of a device's name that do not change what the entries above say. Any other (Laptop, D, MIG) is another
/// device.
bool is_neutral(std::string_view word) {
  constexpr std::string_view neutral[] = {"nvidia", "tesla", "geforce", "pcie", "hbm2", "hbm2e",
                                          "hbm3",   "hbm3e", "sxm2",    "sxm3", "sxm4", "sxm5"};
  const bool is_capacity = word.size() > 2 && word.ends_with("gb") && std::isdigit(static_cast<unsigned char>(word[0]));
  return is_capacity || std::ranges::find(neutral, word) != std::end(neutral);
}

/// In lower case, split at everything that is neither letter nor digit.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  for (const char character : name) {
    const auto code = static_cast<unsigned char>(character);
    if (std::isalnum(code)) {
      words.back() += static_cast<char>(std::tolower(code));
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool matches(const Gpu& gpu, const std::vector<std::string>& device) {
  const std::vector<std::string> wanted = words_of(gpu.words);
  const auto occurs_in = [](const std::vector<std::string>& words) {
    return [&words](const std::string& word) { return std::ranges::find(words, word) != words.end(); };
  };
  return std::ranges::all_of(wanted, occurs_in(device)) && std::ranges::all_of(device, [&](const std::string& word) {
           return is_neutral(word) || occurs_in(wanted)(word);
         });
}

}  // namespace

MatmulType matmul_type(DType compute) {
  switch (compute) {
    case DType::bf16:
      return MatmulType::bf16;
    case DType::fp16:
      return MatmulType::fp16;
    case DType::e4m3:
    case DType::e5m2:
      return MatmulType::fp8;
    default:
      return MatmulType::fp32;
  }
}

std::optional<PeakFlops> peak_from_table(std::string_view device_name, MatmulType type) {
  const std::vector<std::string> device = words_of(device_name);
  const auto gpu = std::ranges::find_if(gpus, [&](const Gpu& candidate) { return matches(candidate, device); });
  if (gpu == std::end(gpus) || gpu->rate(type) == 0.0) return std::nullopt;
  constexpr double tera = 1e12;
  return PeakFlops{gpu->rate(type) * tera, std::string(gpu->words)};
}

PeakFlops measure_peak(const std::function<void(std::int64_t m, std::int64_t n, std::int64_t k)>& gemm,
                       const std::function<double()>& seconds_now) {
  constexpr double budget = 0.1, budget_per_size = 0.03;
  constexpr std::int64_t smallest_size = 256;
  constexpr int most_repeats = 20;
  const double begin = seconds_now();
  double best = 0.0;
  for (std::int64_t size = smallest_size; size <= largest_measured_size; size *= 2) {
    const double operations = 2.0 * static_cast<double>(size) * static_cast<double>(size) * static_cast<double>(size);
    const double expected = best > 0.0 ? operations / best : 0.0;  // a larger product is rarely slower per operation
    const double size_begin = seconds_now();
    if (size_begin - begin + 2.0 * expected > budget) break;
    gemm(size, size, size);  // the first of its size plans and touches its memory
    double now = seconds_now();
    for (int repeat = 0; repeat == 0 || (repeat < most_repeats && now - size_begin + expected < budget_per_size);
         ++repeat) {
      const double product_begin = now;
      gemm(size, size, size);
      now = seconds_now();
      if (now > product_begin) best = std::max(best, operations / (now - product_begin));
    }
  }
  return {best, "measured"};
}

PeakFlops measure_peak(const std::function<void(std::int64_t m, std::int64_t n, std::int64_t k)>& gemm) {
  return measure_peak(gemm, [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  });
}

}  // namespace monomorph::train
