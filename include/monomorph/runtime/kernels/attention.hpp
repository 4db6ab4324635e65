#pragma once
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/runtime/kernels/paged_tokens.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/attention_mask.hpp>

/// Softmax attention under a mask. q has N heads of H features in a row, k and v have KV (N a multiple of KV: query
/// head n reads key head n / (N / KV)); all may be strided slices of one fused projection. Rows are B sequences of T
/// tokens. With document starts (MicroBatch in train/step/training_step.hpp) the mask holds in each document by itself.
namespace monomorph {

struct AttentionShape {
  std::int64_t batch, tokens, heads, kv_heads, head_dim;
  double scale;    ///< of the scores: 1 / sqrt(head_dim) as a rule
  double cap = 0;  ///< scores s that are scaled become cap · tanh(s / cap), before the mask; 0: they stay
};

}  // namespace monomorph

namespace monomorph::cpu {

/// Tiled, so that the T × T scores never exist (Dao et al. 2022). Tiles of keys that no query of a tile sees are
/// skipped: a sequence costs the pairs of a query and a key that it sees, up to whole tiles. lse: log-sum-exp of each
/// query's scores, (B·N, T).
void tiled_attention(Queue, View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                     const AttentionMask& mask, const std::int32_t* document_starts_BT = nullptr);

/// Overwrites dq, dk and dv, which may be slices of one buffer as q, k and v are. Scores are computed again from lse.
void tiled_attention_backward(Queue, View q, View k, View v, View out, View lse_BNT, View dout, View dq, View dk,
                              View dv, const AttentionShape& shape, const AttentionMask& mask,
                              const std::int32_t* document_starts_BT = nullptr);

/// As above with dropout on the probabilities, straightforward and slow: one whole row of scores at a time. What is
/// dropped is drawn from (sample, query position, head · T + key position) and drawn again in backward.
void reference_attention(Queue, View q, View k, View v, View out, View lse_BNT, const AttentionShape& shape,
                         const AttentionMask& mask, const DropoutKey& key,
                         const std::int32_t* document_starts_BT = nullptr);
void reference_attention_backward(Queue, View q, View k, View v, View out, View lse_BNT, View dout, View dq, View dk,
                                  View dv, const AttentionShape& shape, const AttentionMask& mask,
                                  const DropoutKey& key, const std::int32_t* document_starts_BT = nullptr);

/// Writes the rows of new tokens, keys or values, to their places in a cache.
void write_to_pages(Queue, View x_BK, View cache, const PagedTokens& tokens);

/// New tokens against a cache: each sees what the mask lets it see of the tokens before it in its sequence, and itself,
/// all of which the cache holds. q and out are (B, N·H), the caches have rows of KV·H features; shape.tokens is B. What
/// a token gets depends on its query, its sequence and the arithmetic of one token alone, however many others there
/// are. The mask must not look ahead: what the cache holds was computed before the new token was known.
void paged_attention(Queue, View q, View k_cache, View v_cache, View out, const AttentionShape& shape,
                     const AttentionMask& mask, const PagedTokens& tokens);

}  // namespace monomorph::cpu
