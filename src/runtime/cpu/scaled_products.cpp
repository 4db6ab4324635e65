#include <monomorph/runtime/kernels/scaled_products.hpp>

#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>
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

// What is kept for backward is of 8 bits and transposed, as a GPU multiplies it.

/// to = fromᵀ · scale, which is exact, by tiles that a core's cache holds.
template <class To, class From> void transpose(View from_RC, float scale, View to_CR) {
  constexpr std::int64_t tile = 64;
  const std::int64_t rows = from_RC.shape.rows, cols = from_RC.shape.cols;
  parallel_for((cols + tile - 1) / tile, [&](std::int64_t of_cols) {
    for (std::int64_t first_row = 0; first_row < rows; first_row += tile)
      for (std::int64_t col = of_cols * tile; col < std::min(cols, (of_cols + 1) * tile); ++col)
        for (std::int64_t row = first_row; row < std::min(rows, first_row + tile); ++row)
          narrow(widen(from_RC.as<From>()[row * from_RC.stride + col]) * scale,
                 to_CR.as<To>()[col * to_CR.stride + row]);
  });
}
void keep_transposed(View rounded_RC, float scale, View to_CR) { transpose<E4M3, BFloat16>(rounded_RC, scale, to_CR); }
void read_transposed(View kept_CR, float scale, View to_RC) { transpose<BFloat16, E4M3>(kept_CR, 1 / scale, to_RC); }

void round_inputs(View x, View w, const ScaledProduct& product) {
  if (!is_rounded(x))
    round_to_fp8<E4M3>(x, product.scale(ScaledTensor::x), product.x_MK(), product.maximum(ScaledTensor::x));
  const float scale = product.scale(ScaledTensor::w);
  round_to_fp8<E4M3>(w, scale, product.w_NK(), product.maximum(ScaledTensor::w));
  if (product.kept_w_KN.present()) keep_transposed(product.w_NK(), scale, product.kept_w_KN);
}
void round_gradient(View dy, const ScaledProduct& product) {
  round_to_fp8<E5M2>(dy, product.scale(ScaledTensor::dy), product.dy_MN(), product.maximum(ScaledTensor::dy));
}
/// What forward rounded, and took the maximum of.
void round_input_again(View x, const ScaledProduct& product) {
  if (is_rounded(x))
    read_transposed(x, product.scale(ScaledTensor::x), product.x_MK());
  else
    round_to_fp8<E4M3>(x, product.scale(ScaledTensor::x), product.x_MK(), nullptr);
}

/// The product's input, which lies in the room as bf16.
void round_made_input(View to_KM, const ScaledProduct& product) {
  const float scale = product.scale(ScaledTensor::x);
  round_to_fp8<E4M3>(product.x_MK(), scale, product.x_MK(), product.maximum(ScaledTensor::x));
  keep_transposed(product.x_MK(), scale, to_KM);
}

void normalize(Queue queue, const NormedInput& norm, View y) {
  const auto& [kind, x, weight, bias, epsilon, mean, rstd, from_saved] = norm;
  const bool is_layer_norm = kind == NormKind::layer_norm;
  if (is_layer_norm && from_saved)
    layer_norm_recompute(queue, x, weight, bias, mean, rstd, y);
  else if (is_layer_norm)
    layer_norm(queue, x, weight, bias, epsilon, y, mean, rstd);
  else if (from_saved)
    rms_norm_recompute(queue, x, weight, bias, rstd, y, weight_offset(kind));
  else
    rms_norm(queue, x, weight, bias, epsilon, y, rstd, weight_offset(kind));
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
  round_inputs(x, w, product);
  linear(queue, product.x_MK(), product.w_NK(), bias, y);
}

void scaled_linear_add(Queue queue, View x, View w, View bias, View residual, View y, const ScaledProduct& product) {
  round_inputs(x, w, product);
  linear_add(queue, product.x_MK(), product.w_NK(), bias, residual, y);
}

void scaled_linear_backward_weight(Queue queue, View dy, View x, View dw, View dbias, bool accumulate,
                                   const ScaledProduct& product) {
  if (dy.present()) round_gradient(dy, product);
  if (dw.present()) {
    round_input_again(x, product);
    linear_backward_weight(queue, product.dy_MN(), product.x_MK(), dw, View{}, accumulate);
  }
  linear_backward_weight(queue, dy, View{}, View{}, dbias, accumulate);
}

void scaled_linear_backward_input(Queue queue, View w, View dx, bool accumulate, const ScaledProduct& product) {
  const float scale = product.scale(ScaledTensor::w);
  if (product.kept_w_KN.present())
    read_transposed(product.kept_w_KN, scale, product.w_NK());
  else
    round_to_fp8<E4M3>(w, scale, product.w_NK(), nullptr);
  linear_backward_input(queue, product.dy_MN(), product.w_NK(), dx, accumulate);
}

void scaled_normalize(Queue queue, const NormedInput& norm, View x_KM, const ScaledProduct& product) {
  normalize(queue, norm, product.x_MK());
  round_made_input(x_KM, product);
}

void scaled_activate(Queue queue, Activation activation, View h, View x_KM, const ScaledProduct& product) {
  with_activation(activation, [&]<Activation kind> { activate<kind>(queue, h, product.x_MK()); });
  round_made_input(x_KM, product);
}

void scaled_input_again(Queue, View x_KM, const ScaledProduct& product) { round_input_again(x_KM, product); }

void scaled_activate_backward(Queue queue, Activation activation, View h, View dy, View dh, bool /*for_weights*/,
                              const ScaledProduct& product) {
  const View unrounded = dh.present() ? dh : product.dy_MN();
  with_activation(activation, [&]<Activation kind> { activate_backward<kind>(queue, h, dy, unrounded); });
  round_gradient(unrounded, product);
}

void scaled_rotary_backward(Queue queue, View dy, std::int64_t rotated, View cos, View sin, std::int64_t tokens,
                            const std::int32_t* document_starts, bool /*for_weights*/, const ScaledProduct& product) {
  rotary(queue, dy.columns(0, rotated), cos, sin, tokens, 0, true, document_starts);
  round_gradient(dy, product);
}

void record_amax(Queue, const ElementUpdate& run, std::int64_t first, Shape history, const std::int64_t* maxima,
                 const UpdateTerms& terms) {
  in_element_type(run.master.dtype, [&]<class M>() {
    const HistoryRun<M> of_run(run, first, history);
    for (std::int64_t row = 0; row < history.rows; ++row) of_run.record(row, maxima[row], *terms.decision);
  });
}

}  // namespace monomorph::cpu
