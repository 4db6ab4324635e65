#pragma once
#include <array>
#include <cstdint>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>
#include <monomorph/spec/encoder_spec.hpp>
#include <type_traits>

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

/// One sample of this rank beside the samples of all ranks, as `each_sample` shows it to an objective. S is float or
/// double.
template <class S> struct SampleTexts {
  const TextEmbeddings& embeddings;
  std::int64_t sample;  ///< its place among the samples of all ranks

  std::int64_t samples() const { return embeddings.samples(); }
  std::int64_t width() const { return embeddings.width(); }
  /// Whether a sample, of whichever rank, has all its texts.
  bool is_present(std::int64_t of) const { return embeddings.is_present(of); }
  /// The features of text k of a sample of whichever rank.
  const S* text(std::int64_t k, std::int64_t of) const { return embeddings.text(k, of, 1).template as<S>(); }
  /// The gradient of text k of this sample: zeros, to which the objective adds. Null in an evaluation.
  S* gradient(std::int64_t k) const {
    return embeddings.gradient_RE.present() ? embeddings.gradient(k, sample, 1).template as<S>() : nullptr;
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

namespace detail {
struct SampleFunction {
  const void* context;
  void (*fp32)(const void* context, const SampleTexts<float>& texts, float* values);
  void (*fp64)(const void* context, const SampleTexts<double>& texts, double* values);
  std::int64_t n_values;  ///< of a sample: its loss and its metrics
};
void sample_losses(const TextEmbeddings& embeddings, const SampleFunction& function);

template <class F> using ValuesOfSample = std::invoke_result_t<const F&, const SampleTexts<float>&>;
template <class F, class S> void call_sample(const void* f, const SampleTexts<S>& texts, S* values) {
  for (const double value : (*static_cast<const F*>(f))(texts)) *values++ = static_cast<S>(value);
}
}  // namespace detail

/// A loss with arithmetic of the caller's own, from several threads: f(texts) is called with the SampleTexts of each
/// sample of this rank that has all its texts. It gives a std::array<double, 1 + metrics> of the sample's loss and its
/// terms of the objective's metrics, and adds to the gradients of the sample's texts those of the loss of all samples.
/// The workspace must have so many elements for each sample.
/// @throws Error [KERNEL-06] the workspace is smaller
template <class F> void each_sample(Queue, const TextEmbeddings& embeddings, const F& f) {
  constexpr std::size_t n_values = std::tuple_size_v<detail::ValuesOfSample<F>>;
  static_assert(1 <= n_values && n_values <= 1 + most_objective_metrics);
  detail::sample_losses(embeddings, {.context = &f,
                                     .fp32 = detail::call_sample<F, float>,
                                     .fp64 = detail::call_sample<F, double>,
                                     .n_values = n_values});
}

}  // namespace monomorph::cpu
