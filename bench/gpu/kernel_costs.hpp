#pragma once
#include <monomorph/runtime/kernels/attention.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/kernels/optimizer.hpp>
#include <monomorph/runtime/kernels/qk_norm_rotary.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>
#include <monomorph/runtime/memory/view.hpp>

#include <algorithm>
#include <initializer_list>
#include <utility>

/// What each kernel of a dense decoder's step has to move and to compute, by its arguments: each operand once, as it is
/// read or written. tests/simulator/costs_test.cpp compares this with what the kernels do.
namespace bench::costs {

using monomorph::AttentionMask;
using monomorph::AttentionShape;
using monomorph::View;

struct Cost {
  double read = 0, written = 0;  ///< bytes
  double products = 0;           ///< operations of matrix products
  double fp8_products = 0;       ///< of those of fp8
  double fp32_products = 0;      ///< of Muon's iterations in fp32, which no tensor core computes
  double attention = 0;          ///< of attention's products

  double bytes() const { return read + written; }
  Cost& operator+=(const Cost& other) {
    read += other.read, written += other.written, attention += other.attention;
    products += other.products, fp8_products += other.fp8_products, fp32_products += other.fp32_products;
    return *this;
  }
};

inline double bytes_of(std::initializer_list<View> views) {
  double bytes = 0;
  for (const View& view : views) bytes += view.present() ? static_cast<double>(view.bytes()) : 0;
  return bytes;
}
inline Cost moves(std::initializer_list<View> read, std::initializer_list<View> written) {
  return {bytes_of(read), bytes_of(written)};
}
/// Of what is added to.
inline double again(const View& view, bool accumulate) { return accumulate ? bytes_of({view}) : 0; }

// Of elements.
inline Cost copy(View from, View to) { return moves({from}, {to}); }
inline Cost zero(View x) { return moves({}, {x}); }
inline Cost scale(View x, double, View y) { return moves({x}, {y}); }
inline Cost soft_cap(View x, double, View y) { return moves({x}, {y}); }
inline Cost soft_cap_backward(View y, View dy, double, View dx) { return moves({y, dy}, {dx}); }
inline Cost activation(View h, View y) { return moves({h}, {y}); }
inline Cost activation_backward(View h, View dy, View dh) { return moves({h, dy}, {dh}); }

// Products.
inline double product(const View& y, std::int64_t k) {
  return 2 * static_cast<double>(y.elements()) * static_cast<double>(k);
}
inline Cost linear(View x, View w, View bias, View y) {
  Cost cost = moves({x, w, bias}, {y});
  cost.products = product(y, x.shape.cols);
  return cost;
}
inline Cost linear_add(View x, View w, View bias, View residual, View y) {
  Cost cost = linear(x, w, bias, y);
  cost.read += bytes_of({residual});
  return cost;
}
inline Cost linear_backward_input(View dy, View w, View dx, bool accumulate = false) {
  if (!dx.present()) return {};
  Cost cost = moves({dy, w}, {dx});
  cost.read += again(dx, accumulate);
  cost.products = product(dx, dy.shape.cols);
  return cost;
}
inline Cost linear_backward_weight(View dy, View x, View dw, bool accumulate) {
  if (!dw.present()) return {};
  Cost cost = moves({dy, x}, {dw});
  cost.read += again(dw, accumulate);
  cost.products = product(dw, dy.shape.rows);
  return cost;
}
/// With the activation behind it.
inline Cost linear_activate(View x, View w, View bias, View h, View y) {
  Cost cost = linear(x, w, bias, y);
  cost.written += bytes_of({h});
  return cost;
}
inline Cost linear_backward_input_activate(View dout, View w, View h, View dh) {
  Cost cost = linear_backward_input(dout, w, dh);
  cost.read += bytes_of({h});
  return cost;
}
/// The gradient of a bias.
inline Cost column_sums(View x, View sums, bool accumulate) {
  if (!sums.present()) return {};
  Cost cost = moves({x}, {sums});
  cost.read += again(sums, accumulate);
  return cost;
}

// Products of fp8, and before them the rounding of their factors: as they are, transposed, or both; by a kernel of its
// own, or by the one that makes a factor.
inline Cost rounding(View x, int copies) {
  return {bytes_of({x}), static_cast<double>(copies) * static_cast<double>(x.elements())};
}
inline Cost transposed(View of) { return {bytes_of({of}), bytes_of({of})}; }
/// Rounded by a row, and transposed behind that.
inline Cost scaled_normalize(const monomorph::NormedInput& norm, View x_KM) {
  Cost cost = transposed(x_KM);
  const Cost of_norm = moves({norm.x_MK, norm.weight_K, norm.bias_K}, {x_KM});
  cost += of_norm;
  (norm.from_saved ? cost.read : cost.written) += bytes_of({norm.mean_M, norm.rstd_M});
  return cost;
}
inline Cost scaled_activate(View h, View x_KM) { return {bytes_of({h}), 2 * static_cast<double>(x_KM.elements())}; }
/// The rounded gradient, in one kernel with the rotation before it.
inline Cost scaled_rotary_backward(View dy, View cos, View sin, bool for_weights) {
  Cost cost = rounding(dy, for_weights ? 2 : 1);
  cost.read += bytes_of({cos, sin});
  return cost;
}
inline Cost scaled_activate_backward(View h, View dy, View dh, bool for_weights) {
  return {bytes_of({h, dy}), bytes_of({dh}) + (for_weights ? 2 : 1) * static_cast<double>(h.elements())};
}
inline View in_fp8(View x) { return {x.data, monomorph::DType::e4m3, x.shape}; }
inline Cost of_fp8(Cost cost) {
  cost.fp8_products = std::exchange(cost.products, 0);
  return cost;
}
inline Cost scaled_linear(View x, View w, View bias, View y) { return of_fp8(linear(in_fp8(x), in_fp8(w), bias, y)); }
inline Cost scaled_linear_add(View x, View w, View bias, View residual, View y) {
  return of_fp8(linear_add(in_fp8(x), in_fp8(w), bias, residual, y));
}
inline Cost scaled_linear_backward_weight(View dy, View x, View dw, bool accumulate) {
  return of_fp8(linear_backward_weight(in_fp8(dy), in_fp8(x), dw, accumulate));
}
inline Cost scaled_linear_backward_input(View dy, View w, View dx, bool accumulate) {
  return of_fp8(linear_backward_input(in_fp8(dy), in_fp8(w), dx, accumulate));
}

// Norms.
inline Cost layer_norm(View x, View weight, View bias, double, View y, View mean, View rstd) {
  return moves({x, weight, bias}, {y, mean, rstd});
}
inline Cost rms_norm(View x, View weight, View bias, double, View y, View rstd) {
  return moves({x, weight, bias}, {y, rstd});
}
inline Cost layer_norm_recompute(View x, View weight, View bias, View mean, View rstd, View y) {
  return moves({x, weight, bias, mean, rstd}, {y});
}
inline Cost rms_norm_recompute(View x, View weight, View bias, View rstd, View y) {
  return moves({x, weight, bias, rstd}, {y});
}
inline Cost layer_norm_backward(View dy, View x, View weight, View mean, View rstd, View dx, bool add, View dweight,
                                View dbias, bool accumulate) {
  Cost cost = moves({dy, x, weight, mean, rstd}, {dx, dweight, dbias});
  cost.read += again(dx, add) + again(dweight, accumulate) + again(dbias, accumulate);
  return cost;
}
inline Cost rms_norm_backward(View dy, View x, View weight, View rstd, View dx, bool add, View dweight, View dbias,
                              bool accumulate) {
  return layer_norm_backward(dy, x, weight, {}, rstd, dx, add, dweight, dbias, accumulate);
}

// Attention and positions.
inline double pairs_of(const AttentionShape& s, const AttentionMask& mask) {
  return static_cast<double>(s.batch * s.heads * mask.pairs(s.tokens)) * static_cast<double>(s.head_dim);
}
inline Cost attention(View q, View k, View v, View out, View lse, const AttentionShape& shape,
                      const AttentionMask& mask) {
  Cost cost = moves({q, k, v}, {out, lse});
  cost.attention = 4 * pairs_of(shape, mask);  // scores, and values
  return cost;
}
inline Cost attention_backward(View q, View k, View v, View out, View lse, View dout, View dq, View dk, View dv,
                               const AttentionShape& shape, const AttentionMask& mask) {
  Cost cost = moves({q, k, v, out, lse, dout}, {dq, dk, dv});
  cost.attention = 10 * pairs_of(shape, mask);  // scores again, and four gradients
  return cost;
}
inline Cost rotary(View x, View cos, View sin) { return moves({x, cos, sin}, {x}); }
inline Cost qk_norm_rotary(const monomorph::QkNormRotary& of) {
  Cost cost = moves({of.cos_TH, of.sin_TH}, {of.qk_M});
  for (const monomorph::HeadNorm& norm : {of.q, of.k})
    cost += moves({norm.x_MN, norm.weight_H, norm.bias_H}, {norm.mean_MN, norm.rstd_MN});
  return cost;
}

// The ends of a decoder. Of tables no more rows are read than there are tokens.
inline Cost embedding(View table, View positions, View x) {
  const auto rows = [&](const View& of) {
    return of.present() ? of.rows(0, std::min(of.shape.rows, x.shape.rows)) : View();
  };
  return moves({rows(table), rows(positions)}, {x});
}
inline Cost embedding_backward(View dx, View dtable, bool accumulate) {
  const View touched = accumulate ? dtable.rows(0, std::min(dtable.shape.rows, dx.shape.rows)) : dtable;
  Cost cost = moves({dx}, {touched});
  cost.read += again(touched, accumulate);
  return cost;
}
inline Cost position_embedding_backward(View dx, View dpositions, bool accumulate) {
  Cost cost = moves({dx}, {dpositions});
  cost.read += again(dpositions, accumulate);
  return cost;
}
/// A row is read twice, the second time from its end, but is short enough to be in the cache.
inline Cost cross_entropy(const monomorph::TokenLogits& logits) {
  return moves({logits.logits_CV.columns(0, logits.vocab_size)}, {logits.dlogits_CV, logits.loss_C});
}

// Updates.
inline Cost add_to_norm(View x) { return moves({x}, {}); }
inline Cost update(const monomorph::ElementUpdate& run) {
  Cost cost = moves({run.gradient, run.master}, {run.master, run.rounded});
  for (const View& state : run.state) cost += moves({state}, {state});
  return cost;
}
inline Cost momentum_mean(const monomorph::ElementUpdate& run) {
  return moves({run.gradient, run.state[0]}, {run.gradient, run.state[0]});
}
inline Cost step_along(const monomorph::ElementUpdate& run) {
  return moves({run.gradient, run.master}, {run.master, run.rounded});
}
/// The norm, the division by it, and of each iteration three products, of which two add a matrix.
inline Cost orthogonalize(View matrix, View workspace, std::int64_t iterations) {
  const auto [rows, cols] = matrix.shape;
  const auto n = static_cast<double>(matrix.elements()), shorter = static_cast<double>(std::min(rows, cols));
  const double x = n * static_cast<double>(size_of(workspace.dtype)), gram = x * shorter * shorter / n;
  const auto times = static_cast<double>(iterations);
  Cost cost{.read = 2 * bytes_of({matrix}) + x + times * (2 * x + 3 * gram + 2 * x + gram),
            .written = x + bytes_of({matrix}) + times * (gram + gram + x)};
  const bool in_fp32 = workspace.dtype == monomorph::DType::fp32;
  (in_fp32 ? cost.fp32_products : cost.products) = times * 2 * shorter * (2 * n + shorter * shorter);
  return cost;
}

}  // namespace bench::costs
