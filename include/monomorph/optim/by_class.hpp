#pragma once
#include <boost/hana/define_struct.hpp>
#include <monomorph/optim/adamw.hpp>
#include <monomorph/optim/muon.hpp>
#include <monomorph/optim/parts_are_not_grouped.hpp>
#include <monomorph/optim/parts_leave_state_to_whole.hpp>

namespace monomorph::optim {

/// One optimiser for the matrices of the blocks, another for all else: embeddings, head, norms and biases. Of two that
/// are not both optimisers the gate says what they lack.
template <class Matrices, class Others> struct ByClass { using combined = CombinedPolicies<Matrices, Others>; };
template <OptimizerPolicy Matrices, OptimizerPolicy Others> struct ByClass<Matrices, Others> {
  using combined = CombinedPolicies<Matrices, Others>;
  template <class R>
  using rules = decltype(exported_rules<Matrices, R>() + exported_rules<Others, R>() +
                         RuleList<rule::NoneKeepsState<Matrices, Others>, rule::NoneIsGrouped<Matrices, Others>>{});
  using needs = NeedsOfAll<Matrices, Others>;
  struct Hparams {
    BOOST_HANA_DEFINE_STRUCT(Hparams, (typename Matrices::Hparams, matrices), (typename Others::Hparams, others));
  };
  static constexpr UpdateScope scope(ParameterClass parameter_class) {
    return of_blocks(parameter_class) ? Matrices::scope(parameter_class) : Others::scope(parameter_class);
  }
  static constexpr StateBuffers state(ParameterClass parameter_class) {
    return of_blocks(parameter_class) ? Matrices::state(parameter_class) : Others::state(parameter_class);
  }
  static constexpr std::int64_t workspace_elements(Shape matrix) requires updates_matrices<Matrices> {
    return Matrices::workspace_elements(matrix);
  }
  static constexpr TransformWork transform_work(Shape matrix) { return monomorph::transform_work<Matrices>(matrix); }
  static void scale_weight_decay(Hparams& hparams,
                                 double by) requires(scales_weight_decay<Matrices>&& scales_weight_decay<Others>) {
    monomorph::scale_weight_decay<Matrices>(hparams.matrices, by);
    monomorph::scale_weight_decay<Others>(hparams.others, by);
  }
  /// What the log shows as `lr`.
  static double shown_rate(const Hparams& hparams) { return monomorph::shown_rate<Matrices>(hparams.matrices); }

  template <class Queue> static void prepare(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    Matrices::prepare(queue, run, hparams.matrices, terms);
  }
  template <class Queue>
  static void transform(Queue queue, const auto& matrix, const auto& workspace, const Hparams& hparams) {
    Matrices::transform(queue, matrix, workspace, hparams.matrices);
  }
  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    if (of_blocks(run.parameter_class))
      Matrices::update(queue, run, hparams.matrices, terms);
    else
      Others::update(queue, run, hparams.others, terms);
  }

 private:
  static constexpr bool of_blocks(ParameterClass parameter_class) { return parameter_class == ParameterClass::linear; }
};

}  // namespace monomorph::optim
