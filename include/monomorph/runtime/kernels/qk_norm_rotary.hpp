#pragma once
#include <cstdint>
#include <monomorph/runtime/kernels/norm.hpp>
#include <monomorph/runtime/kernels/rotary.hpp>
#include <monomorph/spec/decoder_spec.hpp>

/// The norms of the heads of queries and keys, and the rotation behind them. A device that computes all in one kernel,
/// which saves that what is normalised is written and read again, has a function of its own for that; others compute
/// one after the other, as CPUs do. Both give the same bits: what is rotated was rounded to the dtype of its view.
namespace monomorph {

/// The norm of the heads of queries, or of those of keys.
struct HeadNorm {
  View x_MN;              ///< of M tokens' heads side by side
  View weight_H, bias_H;  ///< bias may be absent
  View mean_MN, rstd_MN;  ///< mean is of layer norms alone
};

struct QkNormRotary {
  HeadNorm q, k;
  double epsilon;
  View qk_M;  ///< what comes of it: heads of queries, and behind them those of keys. It may be where both x are
  View cos_TH, sin_TH;
  std::int64_t tokens;
  const std::int32_t* document_starts_M = nullptr;

  View q_M() const { return qk_M.columns(0, q.x_MN.shape.cols); }
  View k_M() const { return qk_M.columns(q.x_MN.shape.cols, k.x_MN.shape.cols); }
};

template <class Queue> concept FusesQkNormRotary = requires(Queue queue, QkNormRotary of) {
  qk_norm_rotary(queue, NormKind{}, of);
};

template <NormKind kind> void normalize_heads(auto queue, const HeadNorm& of, double epsilon, View y) {
  if constexpr (kind == NormKind::layer_norm)
    layer_norm(queue, of.x_MN, of.weight_H, of.bias_H, epsilon, y, of.mean_MN, of.rstd_MN);
  else
    rms_norm(queue, of.x_MN, of.weight_H, of.bias_H, epsilon, y, of.rstd_MN, weight_offset(kind));
}

/// One kernel after the other.
template <NormKind kind> void normalize_then_rotate(auto queue, const QkNormRotary& of) {
  normalize_heads<kind>(queue, of.q, of.epsilon, of.q_M());
  normalize_heads<kind>(queue, of.k, of.epsilon, of.k_M());
  rotary(queue, of.qk_M, of.cos_TH, of.sin_TH, of.tokens, 0, false, of.document_starts_M);
}

/// Calls f with a kind that is known as the program runs.
void with_norm_kind(NormKind kind, auto&& f) {
  switch (kind) {
    case NormKind::layer_norm:
      return f.template operator()<NormKind::layer_norm>();
    case NormKind::rms_norm:
      return f.template operator()<NormKind::rms_norm>();
    case NormKind::zero_centered_rms_norm:
      return f.template operator()<NormKind::zero_centered_rms_norm>();
  }
}

template <NormKind kind> void normalize_and_rotate(auto queue, const QkNormRotary& of) {
  if constexpr (FusesQkNormRotary<decltype(queue)>)
    qk_norm_rotary(queue, kind, of);
  else
    normalize_then_rotate<kind>(queue, of);
}

}  // namespace monomorph
