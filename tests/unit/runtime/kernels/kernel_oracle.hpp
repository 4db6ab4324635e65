#pragma once
#include <cstdint>
#include <string>
#include <vector>

/// What kernels should give, by LibTorch's operators and its autograd, all in fp64.
namespace oracle {

using Values = std::vector<double>;
struct Matrix {
  std::int64_t rows = 0, cols = 0;
  Values values;
};

/// The output and the gradients of the inputs, in their order; empty for an input that is absent (no rows).
struct Result {
  Values y;
  std::vector<Values> gradients;
};

Result linear(const Matrix& x_MK, const Matrix& w_NK, const Matrix& bias_N, const Matrix& dy_MN);
Result layer_norm(const Matrix& x_MD, const Matrix& weight_H, const Matrix& bias_H, double epsilon,
                  const Matrix& dy_MD);
Result rms_norm(const Matrix& x_MD, const Matrix& weight_H, const Matrix& bias_H, double epsilon, const Matrix& dy_MD);
/// gelu_exact, gelu_tanh, relu_squared, swiglu, geglu_exact, geglu_tanh
Result activation(const std::string& name, const Matrix& h, const Matrix& dy);
/// cap · tanh(x / cap)
Result soft_cap(const Matrix& x, double cap, const Matrix& dy);
Result embedding(const std::vector<std::int32_t>& ids_M, const Matrix& table_VD, const Matrix& positions_TD,
                 std::int64_t tokens, std::int64_t first_position, const Matrix& dy_MD,
                 const std::vector<std::int32_t>& document_starts_M = {});
/// y: the loss of each row; the gradient is that of their sum over the first vocab_size columns.
Result cross_entropy(const Matrix& logits_CV, const std::vector<std::int32_t>& targets_C, std::int64_t vocab_size,
                     double label_smoothing = 0, double z_loss = 0);
/// (1 - p)^2 times the cross-entropy, where p is the target's probability (Lin et al. 2017).
Result focal_loss(const Matrix& logits_CV, const std::vector<std::int32_t>& targets_C, std::int64_t vocab_size);

/// How a student is compared with its teacher: by KL(p || q) of the teacher's p and the student's q, by KL(q || p), or
/// by the mean of both against the mean of p and q.
struct Distillation {
  enum class Divergence { forward, reverse, jensen_shannon } divergence;
  double temperature, teacher_weight;
};
struct Distilled {
  Values losses, gradient;      ///< of each row; of the sum over rows, by the student's logits
  std::vector<Values> metrics;  ///< of each row: cross-entropy, divergence, the teacher's cross-entropy, agreement
};
Distilled distillation(const Matrix& logits_CV, const Matrix& teacher_CV, const std::vector<std::int32_t>& targets_C,
                       std::int64_t vocab_size, const Distillation& terms);

struct Rotation {
  double base = 10'000, factor = 1, low_frequency_factor = 1, high_frequency_factor = 4, original_context = 8192;
  std::int64_t head_dim, tokens, first_position;
  std::vector<std::int32_t> document_starts_M = {};
};
/// x · cos + rotate_half(x) · sin, as in Hugging Face's Llama.
Result rotary(const Rotation& rotation, const Matrix& x_MD, const Matrix& dy_MD);

struct Optimizer {
  double learning_rate, beta1, beta2, epsilon, weight_decay, gradient_scale, clip_value;
};
/// Parameters and moments after a step for each gradient, by the operators of torch.optim.AdamW.
std::vector<Values> adamw(const Optimizer& optimizer, const Values& parameters, const std::vector<Values>& gradients);

}  // namespace oracle
