#pragma once
#include <cstdint>
#include <vector>

/// Attention by LibTorch's plain operators and its autograd, all in fp64: softmax(q kᵀ · scale + causal mask) v.
namespace oracle {

struct Attention {
  std::int64_t batch, tokens, heads, kv_heads, head_dim;
  double scale;
  std::vector<double> q, k, v, dout;  ///< rows of B·T tokens
  std::vector<double> dropout;        ///< factors of the probabilities (B, N, T, T); none if empty
};
struct AttentionResult {
  std::vector<double> out, lse, dq, dk, dv;
};

AttentionResult attention(const Attention& input);

}  // namespace oracle
