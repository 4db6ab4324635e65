#define AT_PER_OPERATOR_HEADERS  // else the operators of tensors bring in the whole of ATen
#include "kernel_oracle.hpp"
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/gelu.h>
#include <ATen/ops/kl_div.h>
#include <ATen/ops/layer_norm.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/outer.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros_like.h>
#include <cmath>
#include <numbers>

namespace oracle {
namespace {

at::Tensor tensor(const Matrix& matrix) {
  if (matrix.rows == 0) return {};
  return at::from_blob(const_cast<double*>(matrix.values.data()), {matrix.rows, matrix.cols}, at::kDouble).clone();
}
at::Tensor leaf(const Matrix& matrix) {
  const at::Tensor x = tensor(matrix);
  return x.defined() ? x.requires_grad_() : x;
}
at::Tensor leaf_vector(const Matrix& matrix) {
  return matrix.rows == 0 ? at::Tensor{} : tensor(matrix).reshape({-1}).requires_grad_();
}
at::Tensor index_vector(const std::vector<std::int32_t>& ids) {
  return at::from_blob(const_cast<std::int32_t*>(ids.data()), {static_cast<std::int64_t>(ids.size())}, at::kInt)
      .to(at::kLong);
}
Values values(const at::Tensor& x) {
  if (!x.defined()) return {};
  const at::Tensor flat = x.detach().contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}
Result differentiate(const at::Tensor& y, const at::Tensor& dy, const std::vector<at::Tensor>& inputs) {
  y.backward(dy.reshape(y.sizes()));
  Result result{values(y), {}};
  for (const at::Tensor& input : inputs) result.gradients.push_back(input.defined() ? values(input.grad()) : Values{});
  return result;
}

at::Tensor activated(const std::string& name, const at::Tensor& h) {
  if (name == "gelu_exact") return at::gelu(h);
  if (name == "gelu_tanh") return at::gelu(h, "tanh");
  if (name == "relu_squared") return at::relu(h).square();
  const std::vector<at::Tensor> halves = h.chunk(2, 1);
  if (name == "geglu_exact") return at::gelu(halves[0]) * halves[1];
  if (name == "geglu_tanh") return at::gelu(halves[0], "tanh") * halves[1];
  return at::silu(halves[0]) * halves[1];
}

at::Tensor positions_of(std::int64_t rows, std::int64_t tokens, std::int64_t first_position,
                        const std::vector<std::int32_t>& document_starts) {
  const at::Tensor places = at::arange(rows, at::kLong).remainder(tokens) + first_position;
  return document_starts.empty() ? places : places - index_vector(document_starts);
}

at::Tensor frequencies(const Rotation& rotation) {
  const at::Tensor exponents =
      at::arange(0, rotation.head_dim, 2, at::kDouble) / static_cast<double>(rotation.head_dim);
  const at::Tensor plain = 1 / at::pow(rotation.base, exponents);
  if (rotation.factor == 1) return plain;
  const at::Tensor wavelength = 2 * std::numbers::pi / plain;
  const double low = rotation.original_context / rotation.low_frequency_factor;
  const double high = rotation.original_context / rotation.high_frequency_factor;
  const at::Tensor smooth = (rotation.original_context / wavelength - rotation.low_frequency_factor) /
                            (rotation.high_frequency_factor - rotation.low_frequency_factor);
  const at::Tensor between = (1 - smooth) * plain / rotation.factor + smooth * plain;
  const at::Tensor long_or_between = at::where(wavelength > low, plain / rotation.factor, between);
  return at::where(wavelength < high, plain, long_or_between);
}
}  // namespace

Result linear(const Matrix& x, const Matrix& w, const Matrix& bias, const Matrix& dy) {
  const at::Tensor x_MK = leaf(x), w_NK = leaf(w), bias_N = leaf_vector(bias);
  return differentiate(at::linear(x_MK, w_NK, bias_N), tensor(dy), {x_MK, w_NK, bias_N});
}

Result layer_norm(const Matrix& x, const Matrix& weight, const Matrix& bias, double epsilon, const Matrix& dy) {
  const at::Tensor x_MD = leaf(x), weight_H = leaf_vector(weight), bias_H = leaf_vector(bias);
  const at::Tensor groups = x_MD.reshape({-1, weight.cols});
  return differentiate(at::layer_norm(groups, {weight.cols}, weight_H, bias_H, epsilon), tensor(dy),
                       {x_MD, weight_H, bias_H});
}

Result rms_norm(const Matrix& x, const Matrix& weight, const Matrix& bias, double epsilon, const Matrix& dy) {
  const at::Tensor x_MD = leaf(x), weight_H = leaf_vector(weight), bias_H = leaf_vector(bias);
  const at::Tensor groups = x_MD.reshape({-1, weight.cols});
  at::Tensor y = groups * (groups.square().mean(-1, true) + epsilon).rsqrt() * weight_H;
  if (bias_H.defined()) y = y + bias_H;
  return differentiate(y, tensor(dy), {x_MD, weight_H, bias_H});
}

Result activation(const std::string& name, const Matrix& h, const Matrix& dy) {
  const at::Tensor x = leaf(h);
  return differentiate(activated(name, x), tensor(dy), {x});
}

Result soft_cap(const Matrix& in, double cap, const Matrix& dy) {
  const at::Tensor x = leaf(in);
  return differentiate(x.div(cap).tanh().mul(cap), tensor(dy), {x});
}

Result embedding(const std::vector<std::int32_t>& ids, const Matrix& table, const Matrix& positions,
                 std::int64_t tokens, std::int64_t first_position, const Matrix& dy,
                 const std::vector<std::int32_t>& document_starts) {
  const at::Tensor table_VD = leaf(table), positions_TD = leaf(positions), ids_M = index_vector(ids);
  at::Tensor x = at::embedding(table_VD, ids_M);
  if (positions_TD.defined()) {
    const at::Tensor at_M = positions_of(ids_M.numel(), tokens, first_position, document_starts);
    x = x + at::embedding(positions_TD, at_M);
  }
  return differentiate(x, tensor(dy), {table_VD, positions_TD});
}

Result cross_entropy(const Matrix& logits, const std::vector<std::int32_t>& targets, std::int64_t vocab_size,
                     double label_smoothing, double z_loss) {
  const at::Tensor logits_CV = leaf(logits), of_vocabulary = logits_CV.narrow(1, 0, vocab_size),
                   targets_C = index_vector(targets);
  at::Tensor losses_C =
      at::cross_entropy_loss(of_vocabulary, targets_C, {}, /*reduction=none*/ 0, /*ignore_index=*/-1, label_smoothing);
  if (z_loss > 0) losses_C = losses_C + z_loss * of_vocabulary.logsumexp(1).square() * targets_C.ne(-1);
  return differentiate(losses_C, at::zeros_like(losses_C) + 1, {logits_CV});
}

Result focal_loss(const Matrix& logits, const std::vector<std::int32_t>& targets, std::int64_t vocab_size) {
  const at::Tensor logits_CV = leaf(logits);
  const at::Tensor minus_log_p =
      at::cross_entropy_loss(logits_CV.narrow(1, 0, vocab_size), index_vector(targets), {}, 0, -1);
  const at::Tensor losses_C = (1 - (-minus_log_p).exp()).square() * minus_log_p;
  return differentiate(losses_C, at::zeros_like(losses_C) + 1, {logits_CV});
}

Distilled distillation(const Matrix& logits, const Matrix& teacher, const std::vector<std::int32_t>& targets,
                       std::int64_t vocab_size, const Distillation& terms) {
  const at::Tensor logits_CV = leaf(logits), z = logits_CV.narrow(1, 0, vocab_size),
                   u = tensor(teacher).narrow(1, 0, vocab_size), targets_C = index_vector(targets),
                   counts_C = targets_C.ne(-1);
  const double T = terms.temperature, weight = terms.teacher_weight;
  const at::Tensor q = (z / T).log_softmax(1), p = (u / T).log_softmax(1);
  // KL(target || input), from logarithms of both.
  const auto divergence = [](const at::Tensor& input, const at::Tensor& target) {
    return at::kl_div(input, target, /*reduction=none*/ 0, /*log_target=*/true).sum(1);
  };
  const at::Tensor mean = ((p.exp() + q.exp()) / 2).log();
  const at::Tensor apart = terms.divergence == Distillation::Divergence::forward ? divergence(q, p)
                           : terms.divergence == Distillation::Divergence::reverse
                               ? divergence(p, q)
                               : (divergence(mean, p) + divergence(mean, q)) / 2;
  const at::Tensor hard = at::cross_entropy_loss(z, targets_C, {}, 0, -1),
                   of_teacher = at::cross_entropy_loss(u, targets_C, {}, 0, -1),
                   losses_C = (1 - weight) * hard + weight * T * T * apart * counts_C;
  const Result result = differentiate(losses_C, at::zeros_like(losses_C) + 1, {logits_CV});
  return {result.y,
          result.gradients[0],
          {values(hard), values(apart * counts_C), values(of_teacher),
           values((z.argmax(1).eq(u.argmax(1)) * counts_C).to(at::kDouble))}};
}

Result rotary(const Rotation& rotation, const Matrix& x, const Matrix& dy) {
  const at::Tensor x_MD = leaf(x), x_MNH = x_MD.reshape({x.rows, -1, rotation.head_dim});
  const at::Tensor position_M =
      positions_of(x.rows, rotation.tokens, rotation.first_position, rotation.document_starts_M);
  const at::Tensor half = at::outer(position_M.to(at::kDouble), frequencies(rotation));
  const at::Tensor angle_M1H = at::cat({half, half}, 1).unsqueeze(1);
  const std::vector<at::Tensor> halves = x_MNH.chunk(2, 2);
  const at::Tensor rotated_half = at::cat({-halves[1], halves[0]}, 2);
  return differentiate(x_MNH * angle_M1H.cos() + rotated_half * angle_M1H.sin(), tensor(dy), {x_MD});
}

std::vector<Values> adamw(const Optimizer& o, const Values& parameters, const std::vector<Values>& gradients) {
  const auto n = static_cast<std::int64_t>(parameters.size());
  const at::Tensor w = tensor({1, n, parameters}), m = at::zeros_like(w), v = at::zeros_like(w);
  double step = 0;
  for (const Values& gradient : gradients) {
    ++step;
    const at::Tensor g = (tensor({1, n, gradient}) * o.gradient_scale).clamp(-o.clip_value, o.clip_value);
    w.mul_(1 - o.learning_rate * o.weight_decay);
    m.lerp_(g, 1 - o.beta1);
    v.mul_(o.beta2).addcmul_(g, g, 1 - o.beta2);
    const double correction1 = 1 - std::pow(o.beta1, step), correction2 = 1 - std::pow(o.beta2, step);
    const at::Tensor denominator = (v.sqrt() / std::sqrt(correction2)).add_(o.epsilon);
    w.addcdiv_(m, denominator, -o.learning_rate / correction1);
  }
  return {values(w), values(m), values(v)};
}

}  // namespace oracle
