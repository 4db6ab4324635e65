#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/products/algorithm_table.hpp"
#include "runtime/cuda/products/mixed_products.hpp"
#include "runtime/cuda/products/run_product.hpp"
#include "runtime/cuda/sums/column_sums.hpp"

#include <monomorph/runtime/cuda/fused_products.hpp>
#include <monomorph/runtime/cuda/kernels.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

#include <map>

/// Matrix products by cuBLASLt, but for the few of which it has none.
namespace monomorph::cuda {
namespace {

/// As many as a recipe has kinds of products.
struct Plans {
  std::map<decltype(Product{}.key()), ProductPlan> plans;
  std::vector<Product> products;

  const ProductPlan& of(const Product& product) {
    const auto [found, is_new] = plans.try_emplace(product.key(), product);
    if (is_new) products.push_back(product);
    return found->second;
  }
  static Plans& of_process() {
    static Plans plans;
    return plans;
  }
};

/// @return false: cuBLASLt does not have this product with this epilogue
bool runs_with_epilogue(Queue queue, const Product& product, const char* kernel) {
  // cuBLASLt's epilogues read and write 16 bytes at a time. Of fp32, which tensor cores do not compute, it has none.
  constexpr std::int64_t access_bytes = 16, access_elements = 8;
  const bool narrow = product.d.dtype == DType::bf16 || product.d.dtype == DType::fp16;
  if (!narrow || product.aux.dtype != product.d.dtype || product.aux.stride % access_elements != 0 ||
      product.aux.alignment() < access_bytes)
    return false;
  const ProductPlan& plan = Plans::of_process().of(product);
  if (plan.candidates() == 0) return false;
  const KernelSpan span(Work::products, kernel, queue.stream);
  plan.run(product, queue, workspace(queue, product_workspace_bytes));
  return true;
}

/// yᵀ = w xᵀ.
Product projection(const View& x, const View& w, const View& bias, const View& y) {
  Product p{.m = w.shape.rows,
            .n = x.shape.rows,
            .k = x.shape.cols,
            .a = Operand::of(w, true),
            .b = Operand::of(x),
            .c = Operand::of(y),
            .d = Operand::of(y)};
  if (bias.present()) {
    p.bias = bias.data;
    p.bias_dtype = bias.dtype;
  }
  return p;
}

/// dxᵀ = wᵀ dyᵀ.
Product backward_projection(const View& dy, const View& w, const View& dx, bool accumulate) {
  return {.m = dx.shape.cols,
          .n = dx.shape.rows,
          .k = dy.shape.cols,
          .a = Operand::of(w),
          .b = Operand::of(dy),
          .c = Operand::of(dx),
          .d = Operand::of(dx),
          .adds_c = accumulate};
}

}  // namespace

void run_product(Queue queue, const Product& product) {
  Plans::of_process().of(product).run(product, queue, workspace(queue, product_workspace_bytes));
}

std::vector<Product> planned_products() { return Plans::of_process().products; }

std::int64_t product_table_hash(Queue) { return static_cast<std::int64_t>(algorithm_table().hash() >> 2); }

void linear(Queue queue, View x, View w, View bias, View y) {
  const KernelSpan span(Work::products, "linear", queue.stream);
  if (y.present()) run_product(queue, projection(x, w, bias, y));
}

void linear_add(Queue queue, View x, View w, View bias, View residual, View y) {
  const KernelSpan span(Work::products, "linear_add", queue.stream);
  if (!y.present()) return;
  Product p = projection(x, w, bias, y);
  if (residual.present()) {
    p.c = Operand::of(residual);
    p.adds_c = true;
  }
  run_product(queue, p);
}

void linear_gelu_tanh(Queue queue, View x, View w, View bias, View h, View y) {
  if (!y.present()) return;
  Product p = projection(x, w, bias, y);
  p.epilogue = Epilogue::gelu;
  p.aux = Operand::of(h);
  if (runs_with_epilogue(queue, p, "linear_gelu_tanh")) return;
  linear(queue, x, w, bias, h);
  gelu_tanh(queue, h, y);
}

void linear_backward_input(Queue queue, View dy, View w, View dx, bool accumulate) {
  const KernelSpan span(Work::products, "linear_backward_input", queue.stream);
  if (!dx.present()) return;
  if (dy.dtype != w.dtype) return mixed_backward_input(queue, dy, w, dx, accumulate);
  run_product(queue, backward_projection(dy, w, dx, accumulate));
}

void linear_backward_input_gelu_tanh(Queue queue, View dout, View w, View h, View dh) {
  if (!dh.present()) return;
  Product p = backward_projection(dout, w, dh, false);
  p.epilogue = Epilogue::gelu_gradient;
  p.aux = Operand::of(h);
  if (dout.dtype == w.dtype && runs_with_epilogue(queue, p, "linear_backward_input_gelu_tanh")) return;
  linear_backward_input(queue, dout, w, dh);
  gelu_tanh_backward(queue, h, dh, dh);
}

/// cuBLASLt could add up rows behind the product, but takes three times as long for it.
void linear_backward_weight(Queue queue, View dy, View x, View dw, View dbias, bool accumulate) {
  const KernelSpan span(Work::products, "linear_backward_weight", queue.stream);
  if (dw.present() && dy.dtype != x.dtype)
    mixed_backward_weight(queue, dy, x, dw, accumulate);
  else if (dw.present())
    run_product(queue, {.m = x.shape.cols,
                        .n = dy.shape.cols,
                        .k = dy.shape.rows,
                        .a = Operand::of(x),
                        .b = Operand::of(dy, true),
                        .c = Operand::of(dw),
                        .d = Operand::of(dw),
                        .adds_c = accumulate});
  column_sums(queue, dy, dbias, accumulate);
}

}  // namespace monomorph::cuda
