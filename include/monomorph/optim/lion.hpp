#pragma once
#include <monomorph/core/field.hpp>
#include <monomorph/optim/weight_decay.hpp>
#include <monomorph/policy/kernel_sets.hpp>

namespace monomorph::optim {

struct LionHparams {
  Field<double> lr{1e-4, 0.0, 100.0, "peak learning rate: a third to a tenth of AdamW's, as every element moves by it"};
  Field<double> beta1{0.9, 0.0, 0.999999, "share of the momentum in the direction whose sign is taken"};
  Field<double> beta2{0.99, 0.0, 0.999999, "decay of the momentum"};
  Field<double> weight_decay{1.0, 0.0, 100.0,
                             "decoupled weight decay of the classes that decay, times the learning rate"};
};

/// Lion (Chen et al. 2023, algorithm 2): the sign of an interpolated momentum, which is its only state.
template <WeightDecayClasses classes> struct LionDecaying : DecayingElements<classes> {
  using Hparams = LionHparams;
  using needs = KernelSets<kernels::Lion>;
  static constexpr StateBuffers state(ParameterClass) { return {"momentum"}; }

  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    lion(queue, run,
         {.learning_rate = terms.rate(hparams.lr),
          .beta1 = hparams.beta1,
          .beta2 = hparams.beta2,
          .weight_decay = LionDecaying::weight_decay(run, hparams)},
         terms);
  }
};

/// Lion that decays matrices and leaves norms and biases alone.
struct Lion : LionDecaying<WeightDecayClasses{}> {};

}  // namespace monomorph::optim

extern template void monomorph::append_fields(monomorph::optim::LionHparams&, FieldList&);
