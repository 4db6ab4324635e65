#include <monomorph/runtime/kernels/scaled_products.hpp>

#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/machine/parallel.hpp>

#include <algorithm>
#include <atomic>

#include "runtime/kernels/amax_history.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/fp8.hpp"

/// Products of fp8 as a processor has them: tensors are rounded to 8 bits and scaled back, which bf16 holds exactly,
/// and those are multiplied. A GPU multiplies the numbers before they are scaled back, and so computes the same sums
/// but for the order of their terms.
namespace monomorph::cpu {
namespace {

/// @return the greatest magnitude of x, as an integer
template <class F> std::uint32_t round_row(const BFloat16* x, std::int64_t n, float scale, BFloat16* to) {
  const float inverse = 1 / scale;  // of a power of two, exact
  std::uint32_t greatest = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    greatest = std::max(greatest, magnitude_of(x[i]));
    F rounded;
    narrow(widen(x[i]) * scale, rounded);
    narrow(widen(rounded) * inverse, to[i]);
  }
  return greatest;
}

/// to = x as fp8 has it.   @param maximum null, or what x is joined to
template <class F> void round_to_fp8(View x, float scale, View to, std::int64_t* maximum) {
  std::atomic<std::uint32_t> greatest = 0;
  parallel_for(x.shape.rows, [&](std::int64_t row) {
    const auto of_row =
        round_row<F>(x.rows(row, 1).as<BFloat16>(), x.shape.cols, scale, to.rows(row, 1).as<BFloat16>());
    for (std::uint32_t seen = greatest; seen < of_row && !greatest.compare_exchange_weak(seen, of_row);) {
    }
  });
  if (maximum != nullptr) *maximum = std::max(*maximum, std::int64_t{greatest});
}

struct Rounded {
  View x_MK, w_NK;
};
Rounded rounded_inputs(View x, View w, const ScaledProduct& product) {
  const std::int64_t M = x.shape.rows, N = w.shape.rows, K = x.shape.cols;
  const Rounded rounded{product.of_x(M, N, K), product.of_w(M, N, K)};
  round_to_fp8<E4M3>(x, product.scale(ScaledTensor::x), rounded.x_MK, product.maximum(ScaledTensor::x));
  round_to_fp8<E4M3>(w, product.scale(ScaledTensor::w), rounded.w_NK, product.maximum(ScaledTensor::w));
  return rounded;
}

}  // namespace

void require_scaled_products(Queue) {}

void amax_scales(Queue, View history, int margin, View scales) {
  for (std::int64_t row = 0; row < history.shape.rows; ++row) {
    std::uint32_t greatest = 0;
    for (std::int64_t i = 0; i < history.shape.cols; ++i)
      greatest = std::max(greatest, magnitude_of(history.rows(row, 1).as<BFloat16>()[i]));
    const std::int64_t product = row / scaled_tensors, tensor = row % scaled_tensors;
    const float amax = of_magnitude(greatest);
    const bool is_gradient = tensor == static_cast<int>(ScaledTensor::dy);
    const float scale = is_gradient ? scale_of<E5M2>(amax, margin) : scale_of<E4M3>(amax, margin);
    float* const of_product = scales.as<float>() + product * numbers_of_scales;
    of_product[place_of_scale(static_cast<int>(tensor))] = scale;
    of_product[place_of_inverse(static_cast<int>(tensor))] = 1 / scale;
  }
}

void scaled_linear(Queue queue, View x, View w, View bias, View y, const ScaledProduct& product) {
  const auto [x_MK, w_NK] = rounded_inputs(x, w, product);
  linear(queue, x_MK, w_NK, bias, y);
}

void scaled_linear_add(Queue queue, View x, View w, View bias, View residual, View y, const ScaledProduct& product) {
  const auto [x_MK, w_NK] = rounded_inputs(x, w, product);
  linear_add(queue, x_MK, w_NK, bias, residual, y);
}

void scaled_linear_backward_weight(Queue queue, View dy, View x, View dw, View dbias, bool accumulate,
                                   const ScaledProduct& product) {
  const std::int64_t M = dy.shape.rows, N = dy.shape.cols, K = x.shape.cols;
  const View dy_MN = product.of_dy(M, N), x_MK = product.of_x(M, N, K);
  round_to_fp8<E5M2>(dy, product.scale(ScaledTensor::dy), dy_MN, product.maximum(ScaledTensor::dy));
  if (dw.present()) {
    round_to_fp8<E4M3>(x, product.scale(ScaledTensor::x), x_MK, nullptr);  // forward has taken its maximum
    linear_backward_weight(queue, dy_MN, x_MK, dw, View{}, accumulate);
  }
  linear_backward_weight(queue, dy, View{}, View{}, dbias, accumulate);
}

void scaled_linear_backward_input(Queue queue, View w, View dx, bool accumulate, const ScaledProduct& product) {
  const std::int64_t M = dx.shape.rows, N = w.shape.rows, K = w.shape.cols;
  const View w_NK = product.of_w(M, N, K);
  round_to_fp8<E4M3>(w, product.scale(ScaledTensor::w), w_NK, nullptr);
  linear_backward_input(queue, product.of_dy(M, N), w_NK, dx, accumulate);
}

void record_amax(Queue, const ElementUpdate& run, std::int64_t first, Shape history, const std::int64_t* maxima,
                 const UpdateTerms& terms) {
  in_element_type(run.master.dtype, [&]<class M>() {
    const HistoryRun<M> of_run(run, first, history);
    for (std::int64_t row = 0; row < history.rows; ++row) of_run.record(row, maxima[row], *terms.decision);
  });
}

}  // namespace monomorph::cpu
