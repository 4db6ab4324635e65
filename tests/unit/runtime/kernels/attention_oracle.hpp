#pragma once
#include <cstdint>
#include <functional>
#include <vector>

/// Attention by LibTorch's plain operators and its autograd, all in fp64: softmax(q kᵀ · scale + mask) v, where the
/// mask, asked for each pair, hides what a query doesn't see, and what is of another document.
namespace oracle {

/// Whether a query sees a key, by their positions in their document.
using Sees = std::function<bool(std::int64_t query, std::int64_t key)>;
inline bool sees_causally(std::int64_t query, std::int64_t key) { return key <= query; }

struct Attention {
  std::int64_t batch, tokens, heads, kv_heads, head_dim;
  double scale;
  std::vector<double> q, k, v, dout;  ///< rows of B·T tokens
  std::vector<double> dropout;        ///< factors of the probabilities (B, N, T, T); none if empty
  std::vector<double> documents;  ///< where in its row the document of each of the B·T tokens begins; none if empty
  Sees sees = sees_causally;
  double cap = 0;  ///< soft, of the scores; 0: none
};
struct AttentionResult {
  std::vector<double> out, lse, dq, dk, dv;
};

AttentionResult attention(const Attention& input);

}  // namespace oracle
