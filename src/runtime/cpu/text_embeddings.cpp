#include <monomorph/runtime/kernels/text_embeddings.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <monomorph/core/error.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/machine/parallel.hpp>
#include "runtime/kernels/dtypes.hpp"
#include "runtime/machine/isa.hpp"

namespace monomorph::cpu {

MONOMORPH_DISPATCH(void, pool_texts,
                   (View x, const std::int32_t* text_of, const TextPooling& pooling, View y, View present),
                   (x, text_of, pooling, y, present))
MONOMORPH_DISPATCH(void, pool_texts_backward,
                   (View dy, const std::int32_t* text_of, const TextPooling& pooling, View dx),
                   (dy, text_of, pooling, dx))

namespace {

template <class S> double product(const S* a, const S* b, std::int64_t n) {
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

}  // namespace

void unit_length(Queue, View x, View y) {
  in_compute_type(x.dtype, [&]<class S>() {
    parallel_for(x.shape.rows, [&](std::int64_t row) {
      const S* const in = x.as<S>() + row * x.stride;
      S* const out = y.as<S>() + row * y.stride;
      const double length = std::sqrt(product(in, in, x.shape.cols));
      const double factor = length > 0 ? 1 / length : 0;
      for (std::int64_t i = 0; i < x.shape.cols; ++i) out[i] = static_cast<S>(factor * static_cast<double>(in[i]));
    });
  });
}

void unit_length_backward(Queue, View dy, View x) {
  in_compute_type(x.dtype, [&]<class S>() {
    parallel_for(x.shape.rows, [&](std::int64_t row) {
      const S* const gradient = dy.as<S>() + row * dy.stride;
      S* const in = x.as<S>() + row * x.stride;
      const double squared = product(in, in, x.shape.cols), along = product(in, gradient, x.shape.cols);
      const double factor = squared > 0 ? 1 / std::sqrt(squared) : 0, back = squared > 0 ? along / squared : 0;
      for (std::int64_t i = 0; i < x.shape.cols; ++i)
        in[i] = static_cast<S>(factor * (static_cast<double>(gradient[i]) - back * static_cast<double>(in[i])));
    });
  });
}

namespace {

/// One direction: the texts `from` of all pairs look for the texts `to`.
class Direction {
 public:
  Direction(const TextEmbeddings& embeddings, const ContrastiveTerms& terms, std::int64_t from, double weight)
      : e_(embeddings), terms_(terms), from_(from), to_(1 - from), weight_(weight) {
    const std::int64_t C = terms.pairs_at_once, N = e_.samples();
    const View& all = e_.workspace;
    similarities_ = all.columns(0, C * N).reshaped({C, N});
    losses_ = all.columns(C * N, C);
    places_ = all.columns(C * N + C, C).as<std::int32_t>();
  }

  /// Adds to the loss of this rank's pairs, and to their gradients if these are wanted.
  LossSum add() {
    LossSum sum;
    const bool trains = e_.gradient_RE.present();
    // A chunk of pairs is either all of this rank or none. Without gradients the other ranks' say nothing.
    for (const auto& [begin, end] :
         {Range{0, e_.first}, Range{e_.first, e_.first + e_.n}, Range{e_.first + e_.n, e_.samples()}}) {
      const bool own = begin == e_.first && end == e_.first + e_.n;
      if (!own && !trains) continue;
      for (std::int64_t first = begin; first < end; first += terms_.pairs_at_once)
        add_chunk(first, std::min(terms_.pairs_at_once, end - first), own, trains, sum);
    }
    return sum;
  }

 private:
  struct Range {
    std::int64_t begin, end;
  };

  void add_chunk(std::int64_t first, std::int64_t n, bool own, bool trains, LossSum& sum) {
    const View s_CN = similarities_.rows(0, n), of_chunk = e_.text(from_, first, n);
    const View candidates = e_.text(to_, 0, e_.samples());
    linear(Queue{}, of_chunk, candidates, {}, s_CN);
    scale(Queue{}, s_CN, 1 / terms_.temperature, s_CN);
    hide_absent(s_CN, first);
    if (own) sum.metrics[0] += static_cast<double>(count_nearest(s_CN, first));
    const double gradient_scale = weight_ * *e_.scale / terms_.temperature;
    LossSum loss;
    cross_entropy(Queue{}, {.logits_CV = s_CN,
                            .targets_C = places_,
                            .vocab_size = e_.samples(),
                            .loss_C = losses_.columns(0, n),
                            .dlogits_CV = trains ? s_CN : View{},
                            .scale = &gradient_scale,
                            .sum = &loss});
    if (own) {
      sum.loss += weight_ * loss.loss;
      sum.tokens += loss.tokens;
    }
    if (!trains) return;
    if (own) linear_backward_input(Queue{}, s_CN, candidates, e_.gradient(from_, first, n), true);
    linear_backward_weight(Queue{}, s_CN.columns(e_.first, e_.n), of_chunk, e_.gradient(to_, e_.first, e_.n), {}, true);
  }

  /// A pair that lacks a text neither looks for one nor is found.
  void hide_absent(const View& s_CN, std::int64_t first) {
    for (std::int64_t i = 0; i < s_CN.shape.rows; ++i)
      places_[i] = e_.is_present(first + i) ? static_cast<std::int32_t>(first + i) : ignored_target;
    for (std::int64_t j = 0; j < e_.samples(); ++j)
      if (!e_.is_present(j))
        in_compute_type(similarities_.dtype, [&]<class S>() {
          for (std::int64_t i = 0; i < s_CN.shape.rows; ++i)
            s_CN.as<S>()[i * s_CN.stride + j] = -std::numeric_limits<S>::infinity();
        });
  }

  std::int64_t count_nearest(const View& s_CN, std::int64_t first) const {
    std::int64_t n = 0;
    in_compute_type(similarities_.dtype, [&]<class S>() {
      for (std::int64_t i = 0; i < s_CN.shape.rows; ++i) {
        if (places_[i] == ignored_target) continue;
        const S* const row = s_CN.as<S>() + i * s_CN.stride;
        bool nearest = true;
        for (std::int64_t j = 0; j < e_.samples(); ++j)
          nearest = nearest && (j == first + i || row[j] < row[first + i]);
        n += nearest ? 1 : 0;
      }
    });
    return n;
  }

  const TextEmbeddings& e_;
  const ContrastiveTerms& terms_;
  std::int64_t from_, to_;
  double weight_;
  View similarities_, losses_;
  std::int32_t* places_;
};

}  // namespace

void contrastive_loss(Queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms) {
  if (embeddings.gradient_RE.present()) zero(Queue{}, embeddings.gradient_RE);
  const double weight = terms.symmetric ? 0.5 : 1;
  LossSum sum = Direction(embeddings, terms, 0, weight).add();
  if (terms.symmetric) sum.loss += Direction(embeddings, terms, 1, weight).add().loss;
  if (embeddings.sum != nullptr) embeddings.sum->add(sum);
}

namespace {

/// What an objective says of this rank's samples, added up in their order, so that no bit depends on the number of
/// threads.
template <class S> LossSum added_up(const TextEmbeddings& embeddings, const S* values, std::int64_t n_values) {
  LossSum sum;
  for (std::int64_t i = 0; i < embeddings.n; ++i) {
    if (!embeddings.is_present(embeddings.first + i)) continue;
    const S* const of_sample = values + i * n_values;
    LossSum one{.loss = static_cast<double>(of_sample[0]), .tokens = 1};
    std::copy(of_sample + 1, of_sample + n_values, one.metrics.begin());
    sum.add(one);
  }
  return sum;
}

template <class S, class F>
void each_own_sample(const TextEmbeddings& embeddings, std::int64_t n_values, F values_of_sample) {
  S* const values = embeddings.workspace.as<S>();
  parallel_for(embeddings.n, [&](std::int64_t i) {
    const SampleTexts<S> texts{embeddings, embeddings.first + i};
    if (!texts.is_present(texts.sample)) return;
    values_of_sample(texts, values + i * n_values);
    if (!embeddings.gradient_RE.present()) return;
    const View gradient = embeddings.gradient_RE.rows(i * embeddings.texts, embeddings.texts);
    scale(Queue{}, gradient, *embeddings.scale, gradient);
  });
  if (embeddings.sum != nullptr) embeddings.sum->add(added_up(embeddings, values, n_values));
}

}  // namespace

void detail::sample_losses(const TextEmbeddings& embeddings, const SampleFunction& function) {
  const std::int64_t needed = embeddings.n * function.n_values, given = embeddings.workspace.elements();
  if (given < needed)
    throw Error("KERNEL-06",
                fmt::format("the objective's workspace has {} elements for {} samples, and their losses and "
                            "metrics need {}; let workspace_elements return at least {} times the samples",
                            given, embeddings.n, needed, function.n_values));
  if (embeddings.gradient_RE.present()) zero(Queue{}, embeddings.gradient_RE);
  if (embeddings.all.dtype == DType::fp64)
    each_own_sample<double>(embeddings, function.n_values,
                            [&](const auto&... of_sample) { function.fp64(function.context, of_sample...); });
  else
    each_own_sample<float>(embeddings, function.n_values,
                           [&](const auto&... of_sample) { function.fp32(function.context, of_sample...); });
}

}  // namespace monomorph::cpu
