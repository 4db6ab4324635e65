#pragma once
#include <cstdint>
#include <monomorph/core/ignored_target.hpp>
#include <monomorph/core/loss_sum.hpp>
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

namespace monomorph {

inline constexpr double unscaled = 1;

/// Logits of C tokens, of which an objective makes losses and gradients. Columns from vocab_size on are padding. Of
/// logits of 16 bits all arithmetic, losses and weights are fp32.
struct TokenLogits {
  View logits_CV;
  const std::int32_t* targets_C;  ///< below vocab_size; ignored_target counts for nothing
  std::int64_t vocab_size;
  View loss_C;      ///< gets each token's loss, 0 if it is ignored
  View dlogits_CV;  ///< gets the gradient; absent in an evaluation. May be logits_CV itself, or of a narrower dtype; if
                    ///< it is not logits_CV, the logits stay
  const double* scale = &unscaled;  ///< of the gradient, which is of the sum over tokens
  LossSum* sum = nullptr;           ///< what the losses are added to, unless it is null
  View weight_C{};  ///< of the losses' dtype: what each token's gradient, and not its loss, is multiplied by; absent: 1
};

/// What is added to a token's cross-entropy.
struct LossTerms {
  double label_smoothing =
      0;              ///< ε: the target is 1 - ε of the token, and ε / vocab_size of every one (Szegedy et al. 2016)
  double z_loss = 0;  ///< ζ: plus ζ times the square of the logits' log-sum-exp (Chowdhery et al. 2022, section 5)
};

}  // namespace monomorph

namespace monomorph::cpu {

/// Softmax cross-entropy. Without terms the gradient is softmax - one-hot. Padding has the logit -inf: its probability
/// and its gradient are zero, as all of an ignored token's gradient is.
void cross_entropy(Queue, const TokenLogits& logits, const LossTerms& terms = {});

namespace detail {
struct TokenFunction {
  const void* context;
  double (*fp32)(const void* context, float* row, std::int64_t vocab_size, std::int32_t target);
  double (*fp64)(const void* context, double* row, std::int64_t vocab_size, std::int32_t target);
};
void token_losses(const TokenLogits& logits, const TokenFunction& function);
template <class F, class S> double call_token(const void* f, S* row, std::int64_t vocab_size, std::int32_t target) {
  return static_cast<double>((*static_cast<const F*>(f))(row, vocab_size, target));
}
}  // namespace detail

/// A loss with arithmetic of the caller's own, from several threads: f(row, vocab_size, target) with the logits of a
/// counted token, all float or all double (a copy, where they are of 16 bits or must stay), gives its loss, and leaves
/// the gradient in the place of the logits.
template <class F> void each_token(Queue, const TokenLogits& logits, const F& f) {
  detail::token_losses(logits, {&f, detail::call_token<F, float>, detail::call_token<F, double>});
}

}  // namespace monomorph::cpu
