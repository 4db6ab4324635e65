#include <monomorph/core/error.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "runtime/cuda/fp8/round_activation.hpp"
#include "runtime/cuda/fp8/round_rotated.hpp"
#include "runtime/cuda/fp8/round_to_fp8.hpp"
#include "runtime/cuda/host/check.hpp"
#include "runtime/cuda/layers/round_norm.hpp"
#include "runtime/cuda/products/run_product.hpp"
#include "runtime/cuda/sums/column_sums.hpp"

/// Products of fp8 by cuBLASLt. On Hopper it multiplies 8 bits only where both factors lie along what is added up, so
/// what does not is rounded to its transpose.
namespace monomorph::cuda {
namespace {

/// An fp8 matrix in bytes of the room.
View bytes_in(const View& room, std::int64_t first, DType dtype, Shape shape) {
  return {room.data + first, dtype, shape};
}

/// Rounded tensors of a product, in its room.
struct Rounded {
  const ScaledProduct& product;

  ScaledView x_MK() const { return x(in_x({product.M, product.K})); }
  ScaledView x_KM() const { return x(in_x({product.K, product.M})); }
  ScaledView w_NK() const { return w(in_w({product.N, product.K})); }
  ScaledView w_KN() const { return w(in_w({product.K, product.N})); }
  View in_x(Shape shape) const { return bytes_in(product.x_MK(), 0, DType::e4m3, shape); }
  View in_w(Shape shape) const { return bytes_in(product.w_NK(), 0, DType::e4m3, shape); }
  ScaledView x(const View& bytes) const { return {bytes, product.inverse(ScaledTensor::x)}; }
  ScaledView w(const View& bytes) const { return {bytes, product.inverse(ScaledTensor::w)}; }
  ScaledView dy_MN() const { return dy(0, {product.M, product.N}); }
  ScaledView dy_NM() const { return dy(product.M * product.N, {product.N, product.M}); }
  ScaledView dy(std::int64_t first, Shape shape) const {
    return {bytes_in(product.dy_MN(), first, DType::e5m2, shape), product.inverse(ScaledTensor::dy)};
  }
  /// dy as backward's products read it.
  RoundedTo dy(bool for_weights) const { return {dy_MN().view, for_weights ? dy_NM().view : View{}}; }
  const float* scale(ScaledTensor tensor) const { return product.scales + place_of_scale(static_cast<int>(tensor)); }
};

/// dᵀ = a bᵀ: d has a row for each of b's, and a column for each of a's.
Product product_of(const ScaledView& a, const ScaledView& b, const View& d) {
  return {.m = a.view.shape.rows,
          .n = b.view.shape.rows,
          .k = a.view.shape.cols,
          .a = Operand::of(a.view, true),
          .b = Operand::of(b.view),
          .c = Operand::of(d),
          .d = Operand::of(d),
          .a_scale = a.scale,
          .b_scale = b.scale};
}

Product rounded_projection(Queue queue, const View& x, const View& w, const View& bias, const View& y,
                           const ScaledProduct& product) {
  const Rounded rounded{product};
  const ScaledView x_MK = rounded.x_MK(), w_NK = rounded.w_NK();
  if (!is_rounded(x))
    round_to_fp8(queue, x, rounded.scale(ScaledTensor::x), {.as_it_is_RC = x_MK.view, .transposed_CR = {}},
                 product.maximum(ScaledTensor::x));
  round_to_fp8(queue, w, rounded.scale(ScaledTensor::w), {.as_it_is_RC = w_NK.view, .transposed_CR = product.kept_w_KN},
               product.maximum(ScaledTensor::w));
  Product p = product_of(w_NK, x_MK, y);
  p.sums_shortly = true;
  if (bias.present()) {
    p.bias = bias.data;
    p.bias_dtype = bias.dtype;
  }
  return p;
}

/// x as the product for the gradient of the weights reads it: kept by forward, or rounded again.
ScaledView transposed_input(Queue queue, const View& x, const Rounded& rounded) {
  if (is_rounded(x)) return rounded.x(x);
  const ScaledView x_KM = rounded.x_KM();
  round_to_fp8(queue, x, rounded.scale(ScaledTensor::x), {.as_it_is_RC = {}, .transposed_CR = x_KM.view}, nullptr);
  return x_KM;
}

/// w as the product for the gradient of the input reads it: kept by forward, or rounded again.
ScaledView transposed_weights(Queue queue, const View& w, const Rounded& rounded) {
  if (const View& kept_KN = rounded.product.kept_w_KN; kept_KN.present()) return rounded.w(kept_KN);
  const ScaledView w_KN = rounded.w_KN();
  round_to_fp8(queue, w, rounded.scale(ScaledTensor::w), {.as_it_is_RC = {}, .transposed_CR = w_KN.view}, nullptr);
  return w_KN;
}

}  // namespace

void require_scaled_products(Queue) {
  int device = 0;
  check(cudaGetDevice(&device), "naming its number");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "naming itself");
  if (properties.major > 8 || (properties.major == 8 && properties.minor >= 9)) return;
  throw UsageError("GPU-09", fmt::format("precision Fp8Mixed must have a GPU of compute capability 8.9 or above, which "
                                         "has products of fp8 ({}: {}.{}); change precision to Bf16Mixed, or give "
                                         "another GPU",
                                         properties.name, properties.major, properties.minor));
}

void scaled_linear(Queue queue, View x, View w, View bias, View y, const ScaledProduct& product) {
  const KernelSpan span(Work::products, "scaled_linear", queue.stream);
  run_product(queue, rounded_projection(queue, x, w, bias, y, product));
}

void scaled_linear_add(Queue queue, View x, View w, View bias, View residual, View y, const ScaledProduct& product) {
  const KernelSpan span(Work::products, "scaled_linear_add", queue.stream);
  Product p = rounded_projection(queue, x, w, bias, y, product);
  if (residual.present()) {
    p.c = Operand::of(residual);
    p.adds_c = true;
  }
  run_product(queue, p);
}

void scaled_linear_backward_weight(Queue queue, View dy, View x, View dw, View dbias, bool accumulate,
                                   const ScaledProduct& product) {
  const KernelSpan span(Work::products, "scaled_linear_backward_weight", queue.stream);
  const Rounded rounded{product};
  if (dy.present())
    round_to_fp8(queue, dy, rounded.scale(ScaledTensor::dy), rounded.dy(dw.present()),
                 product.maximum(ScaledTensor::dy));
  if (dw.present()) {
    Product p = product_of(transposed_input(queue, x, rounded), rounded.dy_NM(), dw);
    p.adds_c = accumulate;
    run_product(queue, p);
  }
  column_sums(queue, dy, dbias, accumulate);
}

void scaled_linear_backward_input(Queue queue, View w, View dx, bool accumulate, const ScaledProduct& product) {
  const KernelSpan span(Work::products, "scaled_linear_backward_input", queue.stream);
  const Rounded rounded{product};
  Product p = product_of(transposed_weights(queue, w, rounded), rounded.dy_MN(), dx);
  p.adds_c = accumulate;
  run_product(queue, p);
}

void scaled_normalize(Queue queue, const NormedInput& norm, View x_KM, const ScaledProduct& product) {
  const KernelSpan span(Work::elementwise, "scaled_normalize", queue.stream);
  const Rounded rounded{product};
  const View x_MK = rounded.x_MK().view;
  round_norm(queue, norm, rounded.scale(ScaledTensor::x), x_MK, product.maximum(ScaledTensor::x));
  transpose_fp8(queue, x_MK, x_KM);
}

void scaled_activate(Queue queue, Activation activation, View h, View x_KM, const ScaledProduct& product) {
  const KernelSpan span(Work::elementwise, "scaled_activate", queue.stream);
  const Rounded rounded{product};
  round_activation(queue, activation, h, rounded.scale(ScaledTensor::x),
                   {.as_it_is_RC = rounded.x_MK().view, .transposed_CR = x_KM}, product.maximum(ScaledTensor::x));
}

void scaled_input_again(Queue queue, View x_KM, const ScaledProduct& product) {
  const KernelSpan span(Work::elementwise, "scaled_input_again", queue.stream);
  transpose_fp8(queue, x_KM, Rounded{product}.x_MK().view);
}

void scaled_rotary_backward(Queue queue, View dy, std::int64_t rotated, View cos, View sin, std::int64_t tokens,
                            const std::int32_t* document_starts, bool for_weights, const ScaledProduct& product) {
  const KernelSpan span(Work::elementwise, "scaled_rotary_backward", queue.stream);
  const Rounded rounded{product};
  round_rotated_back(queue, {dy, rotated, cos, sin, tokens, document_starts}, rounded.scale(ScaledTensor::dy),
                     rounded.dy(for_weights), product.maximum(ScaledTensor::dy));
}

void scaled_activate_backward(Queue queue, Activation activation, View h, View dy, View dh, bool for_weights,
                              const ScaledProduct& product) {
  const KernelSpan span(Work::elementwise, "scaled_activate_backward", queue.stream);
  const Rounded rounded{product};
  round_activation_gradient(queue, activation, h, dy, dh, rounded.scale(ScaledTensor::dy), rounded.dy(for_weights),
                            product.maximum(ScaledTensor::dy));
}

}  // namespace monomorph::cuda
