#pragma once
#include <monomorph/runtime/kernels/document_starts.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// Causal softmax attention. q has N heads of H features in a row, k and v have KV (N a multiple of KV: query head n
/// reads key head n / (N / KV)); all may be strided slices of one fused projection. Rows are B sequences of T tokens.
/// With document starts (document_starts.hpp) a query sees the keys of its own document only, and a sequence costs the
/// sum of its documents' squares, up to whole tiles.
namespace monomorph::kernels {

struct AttentionShape {
  std::int64_t batch, tokens, heads, kv_heads, head_dim;
  double scale;  ///< of the scores: 1 / sqrt(head_dim) as a rule
};

/// Tiled, so that the T × T scores never exist (Dao et al. 2022). lse: log-sum-exp of each query's scores, (B·N, T).
void causal_attention(View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                      const std::int32_t* document_starts_BT = nullptr);

/// Overwrites dq, dk and dv, which may be slices of one buffer as q, k and v are. Scores are computed again from lse.
void causal_attention_backward(View q, View k, View v, View out, View lse_BNT, View dout, View dq, View dk, View dv,
                               const AttentionShape& shape, const std::int32_t* document_starts_BT = nullptr);

/// As above with dropout on the probabilities, straightforward and slow: one whole row of scores at a time. The mask is
/// drawn from (sample, query position, head · T + key position) and drawn again in backward.
void reference_attention(View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                         const DropoutKey& key, const std::int32_t* document_starts_BT = nullptr);
void reference_attention_backward(View q, View k, View v, View out, View lse_BNT, View dout, View dq, View dk, View dv,
                                  const AttentionShape& shape, const DropoutKey& key,
                                  const std::int32_t* document_starts_BT = nullptr);

/// One new token per sequence against a cache: q (B, N·H); k_cache and v_cache hold B · capacity rows of KV·H features,
/// of which the first `tokens` of each sequence count. shape.tokens is that number.
void decode_attention(View q, View k_cache, View v_cache, View out, std::int64_t capacity, const AttentionShape& shape);

}  // namespace monomorph::kernels
