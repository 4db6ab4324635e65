#pragma once
#include <cstdint>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/encoder_spec.hpp>

namespace monomorph {

/// Embeddings of all ranks' samples, of which an objective makes losses, metrics and gradients for those of this rank.
/// Row s·K + k is text k of sample s; rows are E + 1 apart, and behind the E features stands 1, or 0 if there is no
/// such text. All are fp32, or fp64.
struct TextEmbeddings {
  View all;                         ///< (samples · K, E + 1)
  std::int64_t texts;               ///< K
  std::int64_t first, n;            ///< this rank's samples
  View gradient_RE;                 ///< gets the gradient of this rank's embeddings; absent in an evaluation
  View workspace;                   ///< as many elements as the objective has asked for
  const double* scale = &unscaled;  ///< of the gradient, which is of the sum over samples
  LossSum* sum = nullptr;           ///< what losses, samples and metrics are added to, unless it is null

  std::int64_t samples() const { return all.shape.rows / texts; }
  std::int64_t width() const { return all.shape.cols - 1; }
  /// Text k of `count` samples from `from` on, (count, E).
  View text(std::int64_t k, std::int64_t from, std::int64_t count) const {
    const View row = all.rows(from * texts + k, 1).columns(0, width());
    return {row.data, row.dtype, {count, width()}, texts * all.stride};
  }
  /// Its gradient; the samples must be this rank's.
  View gradient(std::int64_t k, std::int64_t from, std::int64_t count) const {
    const View row = gradient_RE.rows((from - first) * texts + k, 1);
    return {row.data, row.dtype, {count, width()}, texts * gradient_RE.stride};
  }
  /// Whether the sample has all its texts.
  bool is_present(std::int64_t sample) const {
    bool present = true;
    for (std::int64_t k = 0; k < texts; ++k) {
      const View mark = all.rows(sample * texts + k, 1).columns(width(), 1);
      present = present && (mark.dtype == DType::fp64 ? *mark.as<double>() != 0 : *mark.as<float>() != 0);
    }
    return present;
  }
};

/// How texts lie in samples of `tokens` tokens, and what is made of the tokens of each. A token's target is the number
/// of its text, below `texts`, or ignored_target.
struct TextPooling {
  Pooling kind;
  std::int64_t tokens, texts;
};

struct ContrastiveTerms {
  double temperature = 1;
  bool symmetric = false;          ///< the mean of the losses of both directions
  std::int64_t pairs_at_once = 1;  ///< the workspace has room for so many times (samples + 2) elements
};

}  // namespace monomorph

namespace monomorph::cpu {

/// y = for each text of each sample what the pooling makes of its rows of x, or zeros if it has none.
/// @param present_R1 gets 1 or 0: whether there is such a text
void pool_texts(Queue, View x_MD, const std::int32_t* text_of_M, const TextPooling& pooling, View y_RD,
                View present_R1);
/// dx = the gradient of every token, zero where it was not pooled.
void pool_texts_backward(Queue, View dy_RD, const std::int32_t* text_of_M, const TextPooling& pooling, View dx_MD);

/// y = x / |x| for each row; a row of zeros stays.
void unit_length(Queue, View x_RE, View y_RE);
/// dx = (dy - y (y · dy)) / |x| with y = x / |x|, over x; zero for a row of zeros.
void unit_length_backward(Queue, View dy_RE, View x_RE);

/// Of K = 2 texts: cross-entropy of the second text of each pair among all second ones, given the products of the first
/// text's embedding with theirs divided by the temperature. Counts pairs; metric 0 counts those whose own second text
/// is nearer than every other. Pairs that lack a text are left out.
void contrastive_loss(Queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms);

}  // namespace monomorph::cpu
