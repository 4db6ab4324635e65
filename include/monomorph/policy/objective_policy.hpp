#pragma once
#include <concepts>
#include <string_view>

namespace monomorph {

/// What is minimised, summed over counted tokens. Besides what is asked for here, a policy has
///
///   template <class Queue> static LossSum loss(Queue, const TokenLogits&, const Hparams&);
///
/// which makes losses and gradients of logits, by a kernel of the queue (runtime/kernels/cross_entropy.hpp), or by
/// `each_token` with arithmetic of its own.
template <class P> concept ObjectivePolicy = requires {
  { P::name } -> std::convertible_to<std::string_view>;
  typename P::Hparams;  // a struct of fields: part of the section `loss` of the hyperparameters
};

}  // namespace monomorph
