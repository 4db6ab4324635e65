#include <monomorph/runtime/kernels/text_embeddings.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <monomorph/core/error.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/kernels/linear.hpp>
#include <monomorph/runtime/machine/kernel_span.hpp>
#include <monomorph/runtime/machine/parallel.hpp>
#include "runtime/cpu/dispatch.hpp"
#include "runtime/kernels/dtypes.hpp"
#include "runtime/kernels/partner_search.hpp"

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
  const KernelSpan span(Work::elementwise, "unit_length");
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
  const KernelSpan span(Work::elementwise, "unit_length_backward");
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

/// Finds partners and adds up what the losses of this rank's pairs are.
class PartnerFinder {
 public:
  PartnerFinder(const TextEmbeddings& embeddings) : e_(embeddings) {}

  void operator()(const PartnerSearch& search, std::int64_t from, bool are_own) {
    LossSum& sum = sums_[static_cast<std::size_t>(from)];
    scale(Queue{}, search.products_CN, 1 / search.temperature, search.products_CN);
    hide_absent(search);
    if (are_own) sum.metrics[0] += static_cast<double>(count_nearest(search));
    const double gradient_scale = search.weight * *e_.scale / search.temperature;
    LossSum loss;
    cross_entropy(Queue{}, {.logits_CV = search.products_CN,
                            .targets_C = search.found_C,
                            .vocab_size = e_.samples(),
                            .loss_C = search.losses_C,
                            .dlogits_CV = e_.gradient_RE.present() ? search.products_CN : View{},
                            .scale = &gradient_scale,
                            .sum = &loss});
    if (!are_own) return;
    sum.loss += search.weight * loss.loss;
    sum.tokens += loss.tokens;
  }
  /// The losses of both directions; pairs, and those whose partner is nearest, are those of the first one.
  LossSum sum() const {
    LossSum sum = sums_[0];
    sum.loss += sums_[1].loss;
    return sum;
  }

 private:
  /// A pair that lacks a text neither looks for one nor is found.
  void hide_absent(const PartnerSearch& search) {
    const View& s_CN = search.products_CN;
    for (std::int64_t i = 0; i < s_CN.shape.rows; ++i)
      search.found_C[i] =
          e_.is_present(search.first + i) ? static_cast<std::int32_t>(search.first + i) : ignored_target;
    for (std::int64_t j = 0; j < e_.samples(); ++j)
      if (!e_.is_present(j))
        in_compute_type(s_CN.dtype, [&]<class S>() {
          for (std::int64_t i = 0; i < s_CN.shape.rows; ++i)
            s_CN.as<S>()[i * s_CN.stride + j] = -std::numeric_limits<S>::infinity();
        });
  }

  std::int64_t count_nearest(const PartnerSearch& search) const {
    const View& s_CN = search.products_CN;
    std::int64_t n = 0;
    in_compute_type(s_CN.dtype, [&]<class S>() {
      for (std::int64_t i = 0; i < s_CN.shape.rows; ++i) {
        if (search.found_C[i] == ignored_target) continue;
        const S* const row = s_CN.as<S>() + i * s_CN.stride;
        const std::int64_t own = search.first + i;
        bool nearest = true;
        for (std::int64_t j = 0; j < e_.samples(); ++j) nearest = nearest && (j == own || row[j] < row[own]);
        n += nearest ? 1 : 0;
      }
    });
    return n;
  }

  const TextEmbeddings& e_;
  std::array<LossSum, 2> sums_{};  ///< by direction
};

}  // namespace

void contrastive_loss(Queue queue, const TextEmbeddings& embeddings, const ContrastiveTerms& terms) {
  const KernelSpan span(Work::loss, "contrastive_loss");
  PartnerFinder finder(embeddings);
  compare_pairs(queue, embeddings, terms,
                [&](const PartnerSearch& search, std::int64_t from, bool are_own) { finder(search, from, are_own); });
  if (embeddings.sum != nullptr) embeddings.sum->add(finder.sum());
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
  const KernelSpan span(Work::loss, "each_sample");
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
