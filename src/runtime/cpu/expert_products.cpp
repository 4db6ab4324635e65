#include <monomorph/runtime/kernels/expert_products.hpp>

#include <monomorph/runtime/kernels/activate.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>

namespace monomorph::cpu {
namespace {

/// Calls f(expert, its rows of a view…) for each expert.
void for_experts(const Routing& routing, auto&& f, const auto&... views) {
  for (std::int64_t expert = 0; expert < routing.n_experts; ++expert) {
    const std::int64_t first = routing.begins_E[expert], n = routing.begins_E[expert + 1] - first;
    f(expert, views.rows(first, n)...);
  }
}

/// An expert's matrix among all of them.
View matrix_of(const View& parts_EFxK, const Routing& routing, std::int64_t expert) {
  const std::int64_t rows = parts_EFxK.shape.rows / routing.n_experts;
  return parts_EFxK.rows(expert * rows, rows);
}

/// What part `i` of `n` makes.
View columns_of(const View& y_NF, int i, int n) {
  const std::int64_t width = y_NF.shape.cols / n;
  return y_NF.columns(i * width, width);
}

void backward_weight(Queue queue, View dy, View x, View dw, bool accumulate) {
  if (x.shape.rows > 0)
    linear_backward_weight(queue, dy, x, dw, View{}, accumulate);
  else if (!accumulate)
    zero(queue, dw);  // no token came to this expert
}

}  // namespace

void expert_linear(Queue queue, View x, const ExpertMatrices& w, View y, const Routing& routing) {
  const KernelSpan span(Work::products, "expert_linear");
  for_experts(
      routing,
      [&](std::int64_t expert, View x_rows, View y_rows) {
        for (int i = 0; i < w.n; ++i)
          linear(queue, x_rows, matrix_of(w.parts_EFxK[i], routing, expert), View{}, columns_of(y_rows, i, w.n));
      },
      x, y);
}

void expert_linear_backward_input(Queue queue, View dy, const ExpertMatrices& w, View dx, const Routing& routing) {
  const KernelSpan span(Work::products, "expert_linear_backward_input");
  for_experts(
      routing,
      [&](std::int64_t expert, View dy_rows, View dx_rows) {
        for (int i = 0; i < w.n; ++i)
          linear_backward_input(queue, columns_of(dy_rows, i, w.n), matrix_of(w.parts_EFxK[i], routing, expert),
                                dx_rows, i > 0);
      },
      dy, dx);
}

void expert_linear_backward_weight(Queue queue, View dy, View x, const ExpertMatrices& dw, const Routing& routing,
                                   bool accumulate) {
  const KernelSpan span(Work::products, "expert_linear_backward_weight");
  if (!dw.parts_EFxK[0].present() && !dw.parts_EFxK[dw.n - 1].present()) return;
  for_experts(
      routing,
      [&](std::int64_t expert, View dy_rows, View x_rows) {
        for (int i = 0; i < dw.n; ++i)
          if (dw.parts_EFxK[i].present())
            backward_weight(queue, columns_of(dy_rows, i, dw.n), x_rows, matrix_of(dw.parts_EFxK[i], routing, expert),
                            accumulate);
      },
      dy, x);
}

void activate_rows(Queue queue, Activation activation, View h, View y, const Routing& routing) {
  const KernelSpan span(Work::elementwise, "activate_rows");
  const std::int64_t n = routing.n_rows();
  with_activation(activation, [&]<Activation kind> { activate<kind>(queue, h.rows(0, n), y.rows(0, n)); });
}

void activate_rows_backward(Queue queue, Activation activation, View h, View dy, const Routing& routing) {
  const KernelSpan span(Work::elementwise, "activate_rows_backward");
  const std::int64_t n = routing.n_rows();
  with_activation(activation, [&]<Activation kind> { activate_backward<kind>(queue, h.rows(0, n), dy.rows(0, n)); });
}

}  // namespace monomorph::cpu
