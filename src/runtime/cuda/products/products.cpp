#include "runtime/cuda/host/staging.hpp"
#include "runtime/cuda/products/mixed_products.hpp"
#include "runtime/cuda/products/product.hpp"
#include "runtime/cuda/sums/column_sums.hpp"

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

void run(Queue queue, const Product& product) {
  Plans::of_process().of(product).run(product, queue, workspace(queue, product_workspace_bytes));
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

}  // namespace

std::vector<Product> planned_products() { return Plans::of_process().products; }

void linear(Queue queue, View x, View w, View bias, View y) {
  const KernelSpan span(Work::products, "linear", queue.stream);
  if (y.present()) run(queue, projection(x, w, bias, y));
}

void linear_add(Queue queue, View x, View w, View bias, View residual, View y) {
  const KernelSpan span(Work::products, "linear_add", queue.stream);
  if (!y.present()) return;
  Product p = projection(x, w, bias, y);
  if (residual.present()) {
    p.c = Operand::of(residual);
    p.adds_c = true;
  }
  run(queue, p);
}

void linear_backward_input(Queue queue, View dy, View w, View dx, bool accumulate) {
  const KernelSpan span(Work::products, "linear_backward_input", queue.stream);
  if (!dx.present()) return;
  if (dy.dtype != w.dtype) return mixed_backward_input(queue, dy, w, dx, accumulate);
  run(queue, {.m = dx.shape.cols,
              .n = dx.shape.rows,
              .k = dy.shape.cols,
              .a = Operand::of(w),
              .b = Operand::of(dy),
              .c = Operand::of(dx),
              .d = Operand::of(dx),
              .adds_c = accumulate});
}

/// cuBLASLt could add up rows behind the product, but takes three times as long for it.
void linear_backward_weight(Queue queue, View dy, View x, View dw, View dbias, bool accumulate) {
  const KernelSpan span(Work::products, "linear_backward_weight", queue.stream);
  if (dw.present() && dy.dtype != x.dtype)
    mixed_backward_weight(queue, dy, x, dw, accumulate);
  else if (dw.present())
    run(queue, {.m = x.shape.cols,
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
