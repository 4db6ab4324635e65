#pragma once
#include <array>
#include <monomorph/policy/device_policy.hpp>
#include <monomorph/runtime/kernels/distillation.hpp>
#include <monomorph/runtime/kernels/expert_products.hpp>
#include <monomorph/runtime/kernels/kernels.hpp>
#include <monomorph/runtime/kernels/nf4.hpp>
#include <monomorph/runtime/kernels/scaled_products.hpp>
#include <monomorph/runtime/kernels/sequences.hpp>
#include <monomorph/runtime/kernels/text_embeddings.hpp>

/// Of which functions each set of kernels consists (policy/kernel_sets.hpp). Whether LibTorch can read a device's
/// memory when it is called is no matter of functions, so kernels::Autograd is not among them.
namespace monomorph {

template <class Queue> concept HasSgd = requires(Queue queue, ElementUpdate run, UpdateTerms terms) {
  sgd(queue, run, SgdCoefficients{}, terms);
};
template <class Queue> concept HasLion = requires(Queue queue, ElementUpdate run, UpdateTerms terms) {
  lion(queue, run, LionCoefficients{}, terms);
};
template <class Queue> concept HasMovingAverage = requires(Queue queue, ElementUpdate run, UpdateTerms terms) {
  move_average(queue, run, AverageCoefficients{}, terms);
};
template <class Queue>
concept HasOrthogonalization = requires(Queue queue, View v, ElementUpdate run, UpdateTerms terms) {
  momentum_mean(queue, run, MomentumCoefficients{}, terms);
  orthogonalize(queue, v, v, 0.0, std::int64_t{5});
  step_along(queue, run, DirectionCoefficients{}, terms);
};
template <class Queue>
concept HasRouting = requires(Queue queue, View v, Routing routing, ElementUpdate run, UpdateTerms terms,
                              std::int64_t* loads, double* sum, const StepScalars* step) {
  choose_experts(queue, routing, RouterScores{}, false, v);
  choose_experts_backward(queue, routing, RouterScores{}, false, RouterLosses{}, step);
  sort_pairs(queue, routing, std::int64_t{});
  add_router_loss(queue, routing, RouterScores{}, RouterLosses{}, sum);
  add_loads(queue, routing, loads);
  gather_rows(queue, v, routing, v);
  combine_rows(queue, v, routing, v, v, v);
  weigh_rows_backward(queue, v, v, routing);
  expert_linear(queue, v, ExpertMatrices{}, v, routing);
  expert_linear_backward_input(queue, v, ExpertMatrices{}, v, routing);
  expert_linear_backward_weight(queue, v, v, ExpertMatrices{}, routing, false);
  activate_rows(queue, Activation{}, v, v, routing), activate_rows_backward(queue, Activation{}, v, v, routing);
  balance_biases(queue, run, std::int64_t{}, loads, std::int64_t{}, 0.0, terms);
};
template <class Queue>
concept HasScaledProducts = requires(Queue queue, View v, ScaledProduct product, ElementUpdate run, UpdateTerms terms,
                                     const std::int64_t* maxima, const std::int32_t* starts) {
  require_scaled_products(queue);
  amax_scales(queue, v, 0, v);
  scaled_linear(queue, v, v, v, v, product), scaled_linear_add(queue, v, v, v, v, v, product);
  scaled_linear_backward_weight(queue, v, v, v, v, false, product);
  scaled_linear_backward_input(queue, v, v, false, product);
  scaled_normalize(queue, NormedInput{}, v, product);
  scaled_activate(queue, Activation{}, v, v, product);
  scaled_input_again(queue, v, product);
  scaled_activate_backward(queue, Activation{}, v, v, v, false, product);
  scaled_rotary_backward(queue, v, std::int64_t{}, v, v, std::int64_t{}, starts, false, product);
  record_amax(queue, run, std::int64_t{}, Shape{}, maxima, terms);
};
template <class Queue>
concept HasTextPooling = requires(Queue queue, View v, const std::int32_t* texts, TextPooling of) {
  pool_texts(queue, v, texts, of, v, v), pool_texts_backward(queue, v, texts, of, v);
  unit_length(queue, v, v), unit_length_backward(queue, v, v);
};
template <class Queue> concept HasContrast = requires(Queue queue, TextEmbeddings embeddings) {
  contrastive_loss(queue, embeddings, ContrastiveTerms{});
};
template <class Queue> concept HasPreference = requires(Queue queue, SequenceBatch batch) {
  preference_loss(queue, batch, PreferenceTerms{});
};

template <class Queue> concept HasDistillation = requires(Queue queue, TaughtLogits logits) {
  distillation_loss(queue, logits, DistillationTerms{});
};

template <class Queue> concept HasNf4 = requires(Queue queue, Nf4Matrix matrix, View v) {
  dequantize_nf4(queue, matrix, v);
};

namespace detail {
struct ElementFunction {
  void operator()(auto, auto&) const {}
};
struct LossFunction {
  double operator()(auto*, std::int64_t, std::int32_t) const { return 0; }
  std::array<double, 1> operator()(const auto&) const { return {}; }
};
}  // namespace detail

template <class Queue>
concept HasOwnArithmetic = requires(Queue queue, ElementUpdate run, UpdateTerms terms, TokenLogits logits,
                                    SequenceBatch sequences, TextEmbeddings embeddings) {
  each_element<0>(queue, run, terms, detail::ElementFunction{});
  each_token(queue, logits, detail::LossFunction{});
  each_sample(queue, sequences, detail::LossFunction{});
  each_sample(queue, embeddings, detail::LossFunction{});
};

/// A device says that it has the sets that its queue has, and no others. Each test or backend of a device asserts it,
/// so that a set of new kernels is not forgotten in the device's list.
template <class Device, class Queue = typename Device::Queue, class Sets = kernel_sets_of<Device>>
concept SaysItsKernels = HasSgd<Queue>
== Sets::template has<kernels::Sgd>&& HasLion<Queue> == Sets::template has<kernels::Lion>&& HasMovingAverage<Queue> ==
    Sets::template has<kernels::MovingAverage>&& HasOrthogonalization<Queue> ==
    Sets::template has<kernels::Orthogonalization>&& HasRouting<Queue> ==
    Sets::template has<kernels::Routing>&& HasScaledProducts<Queue> ==
    Sets::template has<kernels::ScaledProducts>&& HasTextPooling<Queue> ==
    Sets::template has<kernels::TextPooling>&& HasContrast<Queue> ==
    Sets::template has<kernels::Contrast>&& HasPreference<Queue> ==
    Sets::template has<kernels::Preference>&& HasDistillation<Queue> ==
    Sets::template has<kernels::Distillation>&& HasNf4<Queue> ==
    Sets::template has<kernels::Nf4>&& HasOwnArithmetic<Queue> == Sets::template has<kernels::OwnArithmetic>;

}  // namespace monomorph
