#pragma once
#include <cstdint>
#include <vector>

/// Attention by LibTorch's plain operators and its autograd, all in fp64: softmax(q kᵀ · scale + mask) v, where the
/// mask hides what is later, and what is of another document.
namespace oracle {

struct Attention {
  std::int64_t batch, tokens, heads, kv_heads, head_dim;
  double scale;
  std::vector<double> q, k, v, dout;  ///< rows of B·T tokens
  std::vector<double> dropout;        ///< factors of the probabilities (B, N, T, T); none if empty
  std::vector<double> documents;      ///< a number for each of the B·T tokens, equal within a document; none if empty
};
struct AttentionResult {
  std::vector<double> out, lse, dq, dk, dv;
};

AttentionResult attention(const Attention& input);

}  // namespace oracle
