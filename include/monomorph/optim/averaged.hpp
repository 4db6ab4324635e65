#pragma once
#include <boost/hana/define_struct.hpp>
#include <monomorph/core/field.hpp>
#include <monomorph/optim/parts_are_not_grouped.hpp>
#include <monomorph/optim/parts_leave_state_to_whole.hpp>
#include <monomorph/policy/kernel_sets.hpp>

namespace monomorph::rule {
template <DType state, DType master> struct AverageHasMastersDtype {
  static constexpr bool holds = state == master;
  static consteval void explain() {
    static_assert(holds,
                  "[OPTIM-12] the state of Averaged must have the dtype of the masters: evaluations exchange the two; "
                  "leave Bf16State out, or choose a precision whose masters are bf16 (docs/rules.md#optim-12)");
  }
};
}  // namespace monomorph::rule

namespace monomorph::optim {

struct AverageHparams {
  Field<double> decay{0.999, 0.0, 0.999999999,
                      "share of the average that an update leaves; the first updates count alike until then"};
};

/// An optimiser beside a moving average of the parameters that it updates (Polyak and Juditsky 1992), which is what
/// evaluations, exports and commands that use a checkpoint take. Training goes on with the parameters themselves, whose
/// bits are those of the optimiser alone. Of what is no optimiser the gate says what it lacks.
template <class Optimizer> struct Averaged { using combined = CombinedPolicies<Optimizer>; };
template <OptimizerPolicy Optimizer> struct Averaged<Optimizer> {
  using combined = CombinedPolicies<Optimizer>;
  template <class R>
  using rules =
      decltype(exported_rules<Optimizer, R>() +
               RuleList<rule::NoneKeepsState<Optimizer>, rule::NoneIsGrouped<Optimizer>,
                        rule::AverageHasMastersDtype<state_dtype<typename R::optimizer>(R::precision::master_dtype),
                                                     R::precision::master_dtype>>{});
  struct OfAverage {
    using needs = KernelSets<kernels::MovingAverage>;
  };
  using needs = NeedsOfAll<Optimizer, OfAverage>;
  struct Hparams {
    BOOST_HANA_DEFINE_STRUCT(Hparams, (typename Optimizer::Hparams, weights), (AverageHparams, average));
  };
  static constexpr UpdateScope scope(ParameterClass parameter_class) { return Optimizer::scope(parameter_class); }
  static constexpr StateBuffers state(ParameterClass parameter_class) {
    return Optimizer::state(parameter_class).and_one_more(average_buffer);
  }
  static constexpr std::int64_t workspace_elements(Shape matrix) requires updates_matrices<Optimizer> {
    return Optimizer::workspace_elements(matrix);
  }
  static constexpr TransformWork transform_work(Shape matrix) { return monomorph::transform_work<Optimizer>(matrix); }
  static void scale_weight_decay(Hparams& hparams, double by) requires scales_weight_decay<Optimizer> {
    monomorph::scale_weight_decay<Optimizer>(hparams.weights, by);
  }
  static double shown_rate(const Hparams& hparams) { return monomorph::shown_rate<Optimizer>(hparams.weights); }

  template <class Queue> static void prepare(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    Optimizer::prepare(queue, without_average(run), hparams.weights, terms);
  }
  template <class Queue>
  static void transform(Queue queue, const auto& matrix, const auto& workspace, const Hparams& hparams) {
    Optimizer::transform(queue, matrix, workspace, hparams.weights);
  }
  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    Optimizer::update(queue, without_average(run), hparams.weights, terms);
    auto of_average = run;
    of_average.state = {run.state[place_of_average(run)]};
    move_average(queue, of_average, {.decay = hparams.average.decay}, terms);
  }

 private:
  static constexpr int place_of_average(const auto& run) { return Optimizer::state(run.parameter_class).n; }
  static auto without_average(const auto& run) {
    auto rest = run;
    rest.state[place_of_average(run)] = {};
    return rest;
  }
};

}  // namespace monomorph::optim

extern template void monomorph::append_fields(monomorph::optim::AverageHparams&, FieldList&);
