#pragma once
#include <monomorph/core/divergence.hpp>
#include <monomorph/core/field.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/policy/objective_policy.hpp>

namespace monomorph::objective {

struct DistillationHparams {
  Field<double> temperature{2.0, 0.01, 1000.0,
                            "by which the logits of both models are divided where they are compared: the higher, the "
                            "more the unlikely tokens say"};
  Field<double> teacher_weight{0.5, 0.0, 1.0,
                               "of the divergence from the teacher, times the square of the temperature; the rest is "
                               "that of the cross-entropy of the data's tokens"};
  Field<Divergence> divergence{Divergence::forward_kl,
                               "forward_kl: KL(teacher || student), which covers all that the teacher may say; "
                               "reverse_kl: KL(student || teacher), which keeps to what it says most; jensen_shannon: "
                               "the mean of both against the mean of the two"};
};

/// A model learns from another one, its teacher, besides the data (Hinton et al. 2015, "Distilling the knowledge in a
/// neural network"): of each token the loss is a weighted sum of the cross-entropy and of the divergence between what
/// the two models make of it, at a temperature. The teacher's gradients are none: it is read, and asked.
/// @tparam TeacherRecipe what says the teacher's `model`, and if it has them its `layers` and its `attention`: the
///   recipe that it was trained by, or a struct with these members
template <class TeacherRecipe> struct Distillation {
  using Teacher = TeacherRecipe;
  using Hparams = DistillationHparams;
  using needs = KernelSets<kernels::Distillation>;
  static constexpr bool predicts_next_token = true;
  /// Means over tokens: the student's cross-entropy, the divergence without its factors, the teacher's cross-entropy,
  /// and the share of tokens of which both hold the same one for the likeliest.
  static constexpr std::array<ObjectiveMetric, 4> metrics{{{"cross_entropy", MetricKind::mean, BestValue::lowest},
                                                           {"divergence", MetricKind::mean, BestValue::lowest},
                                                           {"teacher_loss"},  // which tells nothing of the student
                                                           {"agreement", MetricKind::mean, BestValue::highest}}};

  template <class Queue> static auto loss(Queue queue, const auto& logits, const Hparams& hparams) {
    return distillation_loss(queue, logits,
                             {.divergence = hparams.divergence,
                              .temperature = hparams.temperature,
                              .teacher_weight = hparams.teacher_weight});
  }
};

}  // namespace monomorph::objective

extern template void monomorph::append_fields(monomorph::objective::DistillationHparams&, FieldList&);

template <> struct monomorph::EnumNames<monomorph::Divergence> {
  static constexpr std::string_view names[] = {"forward_kl", "reverse_kl", "jensen_shannon"};
};
