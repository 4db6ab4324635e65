#pragma once
#include <cstdint>
#include <functional>
#include <monomorph/core/dtype.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace monomorph::train {

/// How matrix products are computed: what a GPU's peak depends on.
enum class MatmulType { fp32, tf32, bf16, fp16, fp8 };
/// How a GPU's products with operands of this dtype are computed here.
MatmulType matmul_type(DType compute);

/// The denominator of MFU.
struct PeakFlops {
  double per_second = 0.0;  ///< floating-point operations, a multiply-add being two
  std::string source;       ///< the data sheet's product name, or "measured"
};

/// Dense peak by the vendor's data sheet; absent if the device is not in the table or has no such units.
/// @param device_name as CUDA reports it, e.g. "NVIDIA H100 80GB HBM3"
std::optional<PeakFlops> peak_from_table(std::string_view device_name, MatmulType type);

inline constexpr std::int64_t largest_measured_size = 4096;

/// Measures the best rate of square matrix products within about 100 ms; call it after the first steps, not at
/// start-up.
/// @param gemm computes C(m, n) = A(m, k) B(k, n) once and returns when it is done; called with sizes from 256 doubling
///        to at most largest_measured_size, as far as the time allows
/// @param seconds_now a monotonic clock
PeakFlops measure_peak(const std::function<void(std::int64_t m, std::int64_t n, std::int64_t k)>& gemm,
                       const std::function<double()>& seconds_now);
PeakFlops measure_peak(const std::function<void(std::int64_t m, std::int64_t n, std::int64_t k)>& gemm);

}  // namespace monomorph::train
