#include <cmath>
#include <cstring>
#include <limits>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include "runtime/isa/reduce.hpp"
#include "runtime/isa/rows.hpp"
#include "runtime/isa/vector_math.hpp"

namespace monomorph::cpu::MONOMORPH_ISA {
namespace {

/// One token's logits, of which the first `vocabulary` count, and where its gradient goes.
struct Token {
  const View &logits, &dlogits;
  std::int64_t logits_at, dlogits_at, vocabulary, target;
  double scale;  ///< of the gradient
  LossTerms terms;
};

template <class S> S greatest_logit(const Token& token) {
  Buffer<S> buffer;
  S most = -std::numeric_limits<S>::infinity();
  for (std::int64_t column = 0; column < token.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, token.vocabulary - column);
    most = greatest(read(token.logits, token.logits_at + column, n, buffer.elements), n, most);
  }
  return most;
}

/// The sum of e^(logit - most). The terms stay in dlogits if it holds S, to be scaled later.
template <class S> S sum_of_exponentials(const Token& token, S most, bool keep) {
  Buffer<S> in_buffer, out_buffer;
  S total = 0;
  for (std::int64_t column = 0; column < token.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, token.vocabulary - column);
    const S* in = read(token.logits, token.logits_at + column, n, in_buffer.elements);
    S* out = keep ? token.dlogits.as<S>() + token.dlogits_at + column : out_buffer.elements;
    MONOMORPH_ELEMENTWISE
    for (std::int64_t i = 0; i < n; ++i) out[i] = exponential(in[i] - most);
    const S* terms = out;
    total += sum<S>(n, [terms](auto at) { return at(terms); });
  }
  return total;
}

template <class S> S sum_of_logits(const Token& token) {
  Buffer<S> buffer;
  S total = 0;
  for (std::int64_t column = 0; column < token.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, token.vocabulary - column);
    const S* in = read(token.logits, token.logits_at + column, n, buffer.elements);
    total += sum<S>(n, [in](auto at) { return at(in); });
  }
  return total;
}

/// The gradient is of_exponentials e^(logit - most), less `of_target` at the target and `of_all` everywhere.
template <class S> struct GradientFactors {
  S of_exponentials, of_target, of_all;
  /// @param log_sum_exp of the logits
  GradientFactors(const Token& token, S total, S log_sum_exp)
      : of_exponentials(static_cast<S>(token.scale) / total), of_target(static_cast<S>(token.scale)), of_all(0) {
    if (token.terms.z_loss > 0) of_exponentials *= 1 + 2 * static_cast<S>(token.terms.z_loss) * log_sum_exp;
    if (token.terms.label_smoothing > 0) {
      const double smoothed = token.scale * token.terms.label_smoothing;
      of_target = static_cast<S>(token.scale - smoothed);
      of_all = static_cast<S>(smoothed / static_cast<double>(token.vocabulary));
    }
  }
};

template <class S> void write_gradient(const Token& token, S most, const GradientFactors<S>& factors, bool kept) {
  Buffer<S> in_buffer, out_buffer;
  const S of_target = factors.of_target, scale = factors.of_exponentials, of_all = factors.of_all;
  for (std::int64_t column = 0; column < token.vocabulary; column += chunk) {
    const std::int64_t n = least(chunk, token.vocabulary - column);
    S* out = place(token.dlogits, token.dlogits_at + column, out_buffer.elements);
    if (kept) {
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] *= scale;
    } else {
      const S* in = read(token.logits, token.logits_at + column, n, in_buffer.elements);
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] = exponential(in[i] - most) * scale;
    }
    if (of_all > 0) {
      MONOMORPH_ELEMENTWISE
      for (std::int64_t i = 0; i < n; ++i) out[i] -= of_all;
    }
    if (token.target >= column && token.target < column + n) out[token.target - column] -= of_target;
    write(out, token.dlogits, token.dlogits_at + column, n);
  }
}

void zero_columns(const View& view, std::int64_t row, std::int64_t first) {
  const std::int64_t width = size_of(view.dtype);
  std::memset(view.data + (row * view.stride + first) * width, 0,
              static_cast<std::size_t>((view.shape.cols - first) * width));
}

template <class S> S one_token(const Token& token) {
  const bool gradient = token.dlogits.present(), keep = gradient && token.dlogits.dtype == dtype_of<S>;
  S buffer = 0;
  const S target_logit = *read(token.logits, token.logits_at + token.target, 1, &buffer);
  // Before the logits are overwritten.
  const S mean_logit =
      token.terms.label_smoothing > 0 ? sum_of_logits<S>(token) / static_cast<S>(token.vocabulary) : S{0};
  const S most = greatest_logit<S>(token), total = sum_of_exponentials(token, most, keep);
  const S log_total = std::log(total), log_sum_exp = log_total + most;
  if (gradient) write_gradient(token, most, GradientFactors<S>(token, total, log_sum_exp), keep);
  S loss = log_total + most - target_logit;
  if (token.terms.label_smoothing > 0)
    loss += static_cast<S>(token.terms.label_smoothing) * (target_logit - mean_logit);
  if (token.terms.z_loss > 0) loss += static_cast<S>(token.terms.z_loss) * log_sum_exp * log_sum_exp;
  return loss;
}
}  // namespace

void cross_entropies(const TokenLogits& tokens, const LossTerms& terms) {
  const auto& [logits, targets, vocab_size, loss, dlogits, scale, sum, weight] = tokens;
  in_compute_type(logits.dtype, [&]<class S>() {
    parallel_for(logits.shape.rows, [&](std::int64_t row) {
      S value = 0;
      const bool counted = targets[row] != ignored_target;
      if (counted) {
        const double of_row = weight.present() ? *scale * static_cast<double>(weight.as<S>()[row]) : *scale;
        value = one_token<S>(
            {logits, dlogits, row * logits.stride, row * dlogits.stride, vocab_size, targets[row], of_row, terms});
      }
      if (dlogits.present()) zero_columns(dlogits, row, counted ? vocab_size : 0);
      S* out = place(loss, row, &value);
      *out = value;
      write(out, loss, row, 1);
    });
  });
}

}  // namespace monomorph::cpu::MONOMORPH_ISA
