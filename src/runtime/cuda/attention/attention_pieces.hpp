#pragma once
#include "runtime/cuda/attention/attention.hpp"

/// Parts of attention that know nothing of each other.
namespace monomorph::cuda {

inline View rows_of(const View& x, std::int64_t first, std::int64_t n) { return x.present() ? x.rows(first, n) : x; }
inline View columns_of(const View& x, std::int64_t first, std::int64_t n) {
  return x.present() ? x.columns(first, n) : x;
}

/// The samples from `first` on.
inline AttentionCall samples_of(AttentionCall call, std::int64_t first, std::int64_t n) {
  const std::int64_t tokens = call.shape.tokens, heads = call.shape.heads;
  for (View* x : {&call.q, &call.k, &call.v, &call.out, &call.dout, &call.dq, &call.dk, &call.dv})
    *x = rows_of(*x, first * tokens, n * tokens);
  call.lse_BNT = rows_of(call.lse_BNT, first * heads, n * heads);
  if (call.document_starts != nullptr) call.document_starts += first * tokens;
  call.shape.batch = n;
  return call;
}

/// Of one sample: n key heads from `first` on, with the query heads that read them.
inline AttentionCall heads_of(AttentionCall call, std::int64_t first, std::int64_t n) {
  const std::int64_t features = call.shape.head_dim, group = call.shape.heads / call.shape.kv_heads;
  for (View* x : {&call.q, &call.out, &call.dout, &call.dq})
    *x = columns_of(*x, first * group * features, n * group * features);
  for (View* x : {&call.k, &call.v, &call.dk, &call.dv}) *x = columns_of(*x, first * features, n * features);
  call.lse_BNT = rows_of(call.lse_BNT, first * group, n * group);
  call.shape.heads = n * group;
  call.shape.kv_heads = n;
  return call;
}

/// Some samples, with all of their heads, or some heads of one sample.
inline AttentionCall piece_of(const AttentionCall& call, std::int64_t sample, std::int64_t samples,
                              std::int64_t kv_head, std::int64_t kv_heads) {
  const AttentionCall piece = samples_of(call, sample, samples);
  return kv_heads == call.shape.kv_heads ? piece : heads_of(piece, kv_head, kv_heads);
}

}  // namespace monomorph::cuda
