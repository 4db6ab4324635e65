#include "attention_oracle.hpp"
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/logsumexp.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/softmax.h>
#include <limits>

namespace oracle {
namespace {

at::Tensor tensor(const std::vector<double>& values, at::IntArrayRef sizes) {
  return at::from_blob(const_cast<double*>(values.data()), sizes, at::kDouble).clone();
}
std::vector<double> values(const at::Tensor& x) {
  const at::Tensor flat = x.detach().contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

/// 1 for each (sample, query, key) that is hidden.
std::vector<double> hidden_pairs(const Attention& input) {
  const auto start_of = [&](std::int64_t sample, std::int64_t t) {
    return input.documents.empty()
               ? 0
               : static_cast<std::int64_t>(input.documents[static_cast<std::size_t>(sample * input.tokens + t)]);
  };
  std::vector<double> hidden;
  for (std::int64_t sample = 0; sample < input.batch; ++sample)
    for (std::int64_t i = 0; i < input.tokens; ++i)
      for (std::int64_t j = 0; j < input.tokens; ++j) {
        const std::int64_t start = start_of(sample, i);
        hidden.push_back(start_of(sample, j) == start && input.sees(i - start, j - start) ? 0 : 1);
      }
  return hidden;
}

}  // namespace

AttentionResult attention(const Attention& input) {
  const auto& [batch, tokens, heads, kv_heads, head_dim, scale, q, k, v, dout, dropout, documents, sees, cap] = input;
  at::Tensor q_BTNH = tensor(q, {batch, tokens, heads, head_dim}).requires_grad_();
  at::Tensor k_BTKH = tensor(k, {batch, tokens, kv_heads, head_dim}).requires_grad_();
  at::Tensor v_BTKH = tensor(v, {batch, tokens, kv_heads, head_dim}).requires_grad_();
  const at::Tensor q_BNTH = q_BTNH.transpose(1, 2);
  const at::Tensor k_BNTH = k_BTKH.transpose(1, 2).repeat_interleave(heads / kv_heads, 1);
  const at::Tensor v_BNTH = v_BTKH.transpose(1, 2).repeat_interleave(heads / kv_heads, 1);
  const at::Tensor hidden_B1TT = tensor(hidden_pairs(input), {batch, 1, tokens, tokens}).to(at::kBool);
  at::Tensor uncapped_BNTT = at::matmul(q_BNTH, k_BNTH.transpose(2, 3)).mul(scale);
  if (cap > 0) uncapped_BNTT = uncapped_BNTT.div(cap).tanh().mul(cap);
  const at::Tensor scores_BNTT = uncapped_BNTT.masked_fill(hidden_B1TT, -std::numeric_limits<double>::infinity());
  at::Tensor p_BNTT = at::softmax(scores_BNTT, -1);
  if (!dropout.empty()) p_BNTT = p_BNTT.mul(tensor(dropout, {batch, heads, tokens, tokens}));
  const at::Tensor out_BTNH = at::matmul(p_BNTT, v_BNTH).transpose(1, 2).contiguous();
  out_BTNH.backward(tensor(dout, out_BTNH.sizes()));
  return {values(out_BTNH), values(at::logsumexp(scores_BNTT, {-1})), values(q_BTNH.grad()), values(k_BTKH.grad()),
          values(v_BTKH.grad())};
}

}  // namespace oracle
