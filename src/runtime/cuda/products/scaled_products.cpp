#include <monomorph/core/error.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "runtime/cuda/host/check.hpp"
#include "runtime/cuda/products/round_to_fp8.hpp"
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

/// Rounded tensors of a product of M, N and K, and where they lie.
struct Rounded {
  const ScaledProduct& product;
  std::int64_t M, N, K;
  ScaledView x(Shape shape) const {
    return {bytes_in(product.of_x(M, N, K), 0, DType::e4m3, shape), product.inverse(ScaledTensor::x)};
  }
  ScaledView w(Shape shape) const {
    return {bytes_in(product.of_w(M, N, K), 0, DType::e4m3, shape), product.inverse(ScaledTensor::w)};
  }
  ScaledView dy_MN() const {
    return {bytes_in(product.of_dy(M, N), 0, DType::e5m2, {M, N}), product.inverse(ScaledTensor::dy)};
  }
  ScaledView dy_NM() const {
    return {bytes_in(product.of_dy(M, N), M * N, DType::e5m2, {N, M}), product.inverse(ScaledTensor::dy)};
  }
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
  const Rounded rounded{product, x.shape.rows, w.shape.rows, x.shape.cols};
  const ScaledView x_MK = rounded.x(x.shape), w_NK = rounded.w(w.shape);
  round_to_fp8(queue, x, rounded.scale(ScaledTensor::x), {.as_it_is_RC = x_MK.view, .transposed_CR = {}},
               product.maximum(ScaledTensor::x));
  round_to_fp8(queue, w, rounded.scale(ScaledTensor::w), {.as_it_is_RC = w_NK.view, .transposed_CR = {}},
               product.maximum(ScaledTensor::w));
  Product p = product_of(w_NK, x_MK, y);
  p.sums_shortly = true;
  if (bias.present()) {
    p.bias = bias.data;
    p.bias_dtype = bias.dtype;
  }
  return p;
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
  const Rounded rounded{product, dy.shape.rows, dy.shape.cols, x.shape.cols};
  const ScaledView dy_NM = rounded.dy_NM(), x_KM = rounded.x({rounded.K, rounded.M});
  round_to_fp8(queue, dy, rounded.scale(ScaledTensor::dy),
               {.as_it_is_RC = rounded.dy_MN().view, .transposed_CR = dw.present() ? dy_NM.view : View{}},
               product.maximum(ScaledTensor::dy));
  if (dw.present()) {
    round_to_fp8(queue, x, rounded.scale(ScaledTensor::x), {.as_it_is_RC = {}, .transposed_CR = x_KM.view}, nullptr);
    Product p = product_of(x_KM, dy_NM, dw);
    p.adds_c = accumulate;
    run_product(queue, p);
  }
  column_sums(queue, dy, dbias, accumulate);
}

void scaled_linear_backward_input(Queue queue, View w, View dx, bool accumulate, const ScaledProduct& product) {
  const KernelSpan span(Work::products, "scaled_linear_backward_input", queue.stream);
  const Rounded rounded{product, dx.shape.rows, w.shape.rows, w.shape.cols};
  const ScaledView w_KN = rounded.w({rounded.K, rounded.N});
  round_to_fp8(queue, w, rounded.scale(ScaledTensor::w), {.as_it_is_RC = {}, .transposed_CR = w_KN.view}, nullptr);
  Product p = product_of(w_KN, rounded.dy_MN(), dx);
  p.adds_c = accumulate;
  run_product(queue, p);
}

}  // namespace monomorph::cuda
