#pragma once
#include <monomorph/block/vocabulary_head.hpp>
#include <monomorph/model/decode_tensors.hpp>
#include <monomorph/model/layer_tensors.hpp>
#include <monomorph/model/normalize.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/kernels/distillation.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/kernels/sequences.hpp>
#include <monomorph/runtime/kernels/step_scalars.hpp>

/// The bodies of VocabularyHead.
namespace monomorph {

namespace detail {

/// The last of what makes logits. Those of 16 bits are rounded before and after, as PyTorch's autocast does.
void cap_logits(auto queue, const View& logits, double cap) {
  if (cap > 0) soft_cap(queue, logits, cap, logits);
}

/// What the norm has made, in the chunks of tokens whose logits exist at a time.
template <class R> struct LossChunks {
  using Head = VocabularyHead<R>;
  const LayerTensors<R>& t;
  const typename Head::Saved& saved;
  View weight_VD;
  View bias_V{};  ///< in the dtype of logits; absent but where a head of another kind has one
  View in_MD = t.activations[saved.in_MD];

  std::int64_t tokens() const { return in_MD.shape.rows; }
  /// Calls f(logits of a chunk, its first token) for one chunk after the other.
  void each(auto&& f) const {
    for_each([&](const TokenLogits& logits, std::int64_t first) {
      linear(t.queue, in_MD.rows(first, logits.logits_CV.shape.rows), weight_VD, bias_V, logits.logits_CV);
      cap_logits(t.queue, logits.logits_CV, Head::model.soft_cap.logits);
      f(logits, first);
    });
  }
  /// The objective's losses and gradients of a chunk, which a teacher sees first if there is one.
  void token_loss(const TokenLogits& logits, std::int64_t first) const {
    using Objective = objective_of<R>;
    if constexpr (Head::is_taught)
      Objective::loss(t.queue, taught(logits, first), *t.objective);
    else
      Objective::loss(t.queue, logits, *t.objective);
  }
  /// From gradients of logits to those of what the product has made.
  void uncap(const TokenLogits& logits) const {
    if constexpr (Head::caps_logits)
      soft_cap_backward(t.queue, logits.logits_CV, logits.dlogits_CV, Head::model.soft_cap.logits, logits.dlogits_CV);
  }
  /// Whether the objective has all that it compares with.
  bool is_complete() const {
    if constexpr (Head::is_taught)
      return t.teacher.in_MD.present();
    else
      return true;
  }
  /// The same where the logits have been made before. Where they are of several chunks, they are made again.
  void each_again(auto&& f) const {
    if (saved.logits_CV.shape.rows < tokens())
      each(f);
    else
      for_each(f);
  }

 private:
  void for_each(auto&& f) const {
    const std::int64_t chunk = saved.logits_CV.shape.rows;
    for (std::int64_t first = 0; first < tokens(); first += chunk)
      f(at(first, smaller_of(chunk, tokens() - first)), first);
  }
  TokenLogits at(std::int64_t first, std::int64_t n) const {
    const View all = rounds_logits<typename R::precision> ? t.activations : t.statistics,
               logits_CV = all[saved.logits_CV].rows(0, n);
    View dlogits_CV;
    if (t.training) dlogits_CV = saved.dlogits_CV.present() ? t.activations[saved.dlogits_CV].rows(0, n) : logits_CV;
    return {.logits_CV = logits_CV,
            .targets_C = t.targets_M + first,
            .vocab_size = trunk_of<R>.vocab_size,
            .loss_C = losses(first, n),
            .dlogits_CV = dlogits_CV,
            .scale = &t.scalars->loss_scale.value,
            .sum = &t.scalars->micro_batch};
  }
  TaughtLogits taught(const TokenLogits& logits, std::int64_t first) const {
    const std::int64_t n = logits.logits_CV.shape.rows;
    const View teacher_CV = t.statistics[saved.taught.teacher_CV].rows(0, n);
    linear(t.queue, t.teacher.in_MD.rows(first, n), t.teacher.weight_VD, {}, teacher_CV);
    cap_logits(t.queue, teacher_CV, objective_of<R>::Teacher::model.soft_cap.logits);
    return {logits, teacher_CV, t.statistics[saved.taught.metrics_4C].columns(0, n)};
  }
  View losses(std::int64_t first, std::int64_t n) const {
    if constexpr (Head::over_sequences)
      return t.statistics[saved.sequences.loss_M].columns(first, n);
    else
      return t.statistics[saved.loss_C].columns(0, n);
  }
};

/// An evaluation has the bare cross-entropy, so that perplexities can be compared, and the objective's metrics.
template <class R> void evaluated_loss(const LossChunks<R>& chunks, TokenLogits logits, std::int64_t first) {
  const LayerTensors<R>& t = chunks.t;
  cross_entropy(t.queue, logits);
  if constexpr (!metrics_of<objective_of<R>>.empty()) {
    if (!chunks.is_complete()) return;
    logits.sum = &t.scalars->unused;
    chunks.token_loss(logits, first);
    keep_metrics(t.queue, t.scalars);
  }
}

/// The loss of all sequences, and how much the gradient of each token counts.
template <class R> void sequence_loss(const LossChunks<R>& chunks) {
  using Objective = objective_of<R>;
  const auto& [t, saved, weight_VD, bias_V, in_MD] = chunks;
  chunks.each([&, queue = t.queue](TokenLogits logits, std::int64_t) {
    logits.dlogits_CV = {};
    logits.sum = nullptr;  // samples count, and not tokens
    cross_entropy(queue, logits);
  });
  Objective::loss(t.queue,
                  SequenceBatch{.loss_M = t.statistics[saved.sequences.loss_M],
                                .targets_M = t.targets_M,
                                .document_starts_M = t.document_starts,
                                .tokens = t.tokens,
                                .sequences = Objective::sequences_per_sample,
                                .reference_BK = t.reference_BK,
                                .log_probability_BK = VocabularyHead<R>::log_probabilities(saved, t.statistics),
                                .weight_M = t.training ? t.statistics[saved.sequences.weight_M] : View{},
                                .sum = &t.scalars->micro_batch},
                  *t.objective);
}

/// Calls f(logits of a chunk, its first token), with their gradients in them.
template <class R> void each_gradient(const LossChunks<R>& chunks, auto&& f) {
  const LayerTensors<R>& t = chunks.t;
  if constexpr (VocabularyHead<R>::over_sequences) {
    sequence_loss(chunks);
    chunks.each_again([&](TokenLogits logits, std::int64_t first) {
      logits.sum = nullptr;
      logits.weight_C = t.statistics[chunks.saved.sequences.weight_M].columns(first, logits.logits_CV.shape.rows);
      cross_entropy(t.queue, logits);
      chunks.uncap(logits);
      f(logits, first);
    });
  } else {
    chunks.each([&](const TokenLogits& logits, std::int64_t first) {
      chunks.token_loss(logits, first);
      chunks.uncap(logits);
      f(logits, first);
    });
  }
}

}  // namespace detail

template <class R> void VocabularyHead<R>::forward(const LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  model::normalize<R>(t, p.final_norm, saved.norm, t.x_MD, t.activations[saved.in_MD]);
  const detail::LossChunks<R> chunks{t, saved, t.params[weight_VD(p)]};
  if constexpr (over_sequences)
    detail::sequence_loss(chunks);
  else
    chunks.each([&](const TokenLogits& logits, std::int64_t first) { detail::evaluated_loss(chunks, logits, first); });
}

template <class R> void VocabularyHead<R>::backward(const LayerTensors<R>& t, const Saved& saved) {
  static constexpr Params p;
  const View in_MD = t.activations[saved.in_MD], weight = t.params[weight_VD(p)];
  model::normalize<R>(t, p.final_norm, saved.norm, t.x_MD, in_MD);
  detail::each_gradient(detail::LossChunks<R>{t, saved, weight}, [&](const TokenLogits& logits, std::int64_t first) {
    const View in_CD = in_MD.rows(first, logits.dlogits_CV.shape.rows);
    linear_backward_weight(t.queue, logits.dlogits_CV, in_CD, t.gradients[weight_VD(p)], {}, t.accumulate || first > 0);
    linear_backward_input(t.queue, logits.dlogits_CV, weight, in_CD);  // overwrites the norm's output
  });
  model::normalize_backward<R>(t, p.final_norm, saved.norm, in_MD, t.x_MD, t.dx_MD, false);
}

template <class R> View VocabularyHead<R>::log_probabilities(const Saved& saved, const View& all_statistics) {
  if constexpr (over_sequences) {
    const std::int64_t rows = saved.in_MD.shape.rows / model.context_length;
    const View place = all_statistics[saved.sequences.log_probability];
    return {place.data, DType::fp64, {rows, objective_of<R>::sequences_per_sample}};
  } else {
    return {};
  }
}

template <class R> void VocabularyHead<R>::decode(const DecodeTensorsOf<R>& t) {
  static constexpr Params p;
  Layout activations, statistics;
  const DecodeTemporary temporary(activations, statistics, t.batch);
  const View normed_BD = t.activations[temporary.normed_BD];
  model::normalize<R>(t, p.final_norm, temporary.norm, t.x_BD, normed_BD);
  linear(t.queue, normed_BD, t.params[weight_VD(p)], {}, t.logits_BV);
  detail::cap_logits(t.queue, t.logits_BV, model.soft_cap.logits);
}

}  // namespace monomorph
