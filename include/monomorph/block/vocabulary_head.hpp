#pragma once
#include <monomorph/block/token_embedding.hpp>
#include <monomorph/core/dtype.hpp>
#include <monomorph/core/extremes.hpp>
#include <monomorph/policy/precision_policy.hpp>

namespace monomorph {

/// Tokens whose logits exist at a time.
template <class R> constexpr std::int64_t loss_chunk_tokens(std::int64_t n_tokens) {
  return smaller_of(n_tokens, device_of<R>::loss_chunk_tokens(trunk_of<R>.padded_vocab()));
}

/// What an objective over sequences needs of a whole micro-batch: the cross-entropy of each token, and what its
/// gradient is multiplied by.
template <class R> struct SequenceSlices {
  static constexpr DType statistic = statistics_dtype(R::precision::compute_dtype);
  Slice loss_M, weight_M;
  Slice log_probability;  ///< by sample and sequence, in fp64
  constexpr SequenceSlices() = default;
  constexpr SequenceSlices(SavedPlacement statistics, std::int64_t M)
      : loss_M(statistics.take({1, M})),
        weight_M(statistics.take({1, M})),
        log_probability(statistics.take({1, sequences(M) * size_of(DType::fp64) / size_of(statistic)})) {}
  static constexpr std::int64_t sequences(std::int64_t M) {
    return M / trunk_of<R>.context_length * objective_of<R>::sequences_per_sample;
  }
};

/// What an objective with a teacher needs of a chunk besides.
struct TaughtSlices {
  Slice teacher_CV, metrics_4C;
  constexpr TaughtSlices() = default;
  constexpr TaughtSlices(SavedPlacement statistics, Shape CV)
      : teacher_CV(statistics.take(CV)), metrics_4C(statistics.take({4, CV.rows})) {}
};

/// The last layer of a decoder: final norm, logits over the vocabulary and the loss of the recipe's objective, in
/// chunks of tokens: the logits of a whole micro-batch never exist. A tied head's parameters are in the embedding's
/// unit. An objective over sequences sees the cross-entropies of all tokens before there are gradients, so that the
/// logits of a micro-batch of several chunks are made twice.
template <class R> struct VocabularyHead {
  static constexpr const auto& model = trunk_of<R>;
  static constexpr UnitKind unit_kind = UnitKind::head;
  static constexpr bool shares_first_unit = model.tied_head;
  static constexpr bool caps_logits = model.soft_cap.logits > 0;
  static constexpr bool over_sequences = is_over_sequences<objective_of<R>>, is_taught = has_teacher<objective_of<R>>;

  struct OwnParams : ParameterLayout {
    NormParams final_norm;
    Slice head_VD;
    constexpr explicit OwnParams(int = 0) : final_norm(*this, model.norm, final_norm_names, model.d_model) {
      head_VD = take({model.padded_vocab(), model.d_model});
      add_part("head.weight", head_VD, 0, model.vocab_size, ParameterClass::head, initializers::head(model));
    }
  };
  using Params = std::conditional_t<shares_first_unit, typename TokenEmbedding<R>::Params, OwnParams>;
  static constexpr Slice weight_VD(const Params& p) {
    if constexpr (shares_first_unit)
      return p.table_VD;
    else
      return p.head_VD;
  }

  struct Saved {
    Slice in_MD;  ///< the final norm's output; its gradient overwrites it, chunk by chunk
    NormStatistics norm;
    Slice loss_C, logits_CV;  ///< losses of a chunk, unless the objective is over sequences
    Slice dlogits_CV;         ///< only if the compute dtype is narrower than that of the logits, or if these must stay,
                              ///< as their cap's slope follows from them; it takes their place otherwise
    std::conditional_t<over_sequences, SequenceSlices<R>, Nothing> sequences;
    std::conditional_t<is_taught, TaughtSlices, Nothing> taught;
    constexpr Saved(SavedPlacement activations, SavedPlacement statistics, std::int64_t M)
        : in_MD(activations.take({M, model.d_model})), norm(statistics, model.norm, {1, M}) {
      const Shape CV{loss_chunk_tokens<R>(M), model.padded_vocab()};
      if constexpr (over_sequences)
        sequences = {statistics, M};
      else
        loss_C = statistics.take({1, CV.rows});
      logits_CV = (rounds_logits<typename R::precision> ? activations : statistics).take(CV);
      if constexpr (is_taught) taught = {statistics, CV};
      if (caps_logits || (narrows_gradient<R> && !rounds_logits<typename R::precision>))
        dlogits_CV = activations.take(CV);
    }
  };
  using Temporary = Nothing;
  using DecodeCache = Nothing;
  struct DecodeTemporary {
    Slice normed_BD;
    NormStatistics norm;
    constexpr DecodeTemporary(Layout& activations, Layout& statistics, std::int64_t B)
        : normed_BD(activations.take({B, model.d_model})), norm(statistics, model.norm, {1, B}) {}
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 2 * model.vocab_size * model.d_model; }
  /// FLOPs of the logits that are made a second time.
  static constexpr double loss_flops_per_token(std::int64_t micro_batch, int) {
    const std::int64_t M = micro_batch * model.context_length;
    return over_sequences && loss_chunk_tokens<R>(M) < M ? static_cast<double>(matmul_flops_per_token()) : 0;
  }

  /// In an evaluation: adds the loss to that of the micro-batch.
  static void forward(const LayerTensors<R>& t, const Saved& saved);
  /// Adds the loss to that of the micro-batch; makes dx_MD and the head's gradients.
  static void backward(const LayerTensors<R>& t, const Saved& saved);
  static void decode(const DecodeTensorsOf<R>& t);
  /// How probable the sequences of the last pass were, by sample, in fp64.   @param all_statistics what Saved's slices
  /// are of
  static View log_probabilities(const Saved& saved, const View& all_statistics);
};

}  // namespace monomorph
