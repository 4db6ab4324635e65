#pragma once
#include <monomorph/core/field.hpp>
#include <monomorph/optim/weight_decay.hpp>

namespace monomorph::optim {

struct AdamWHparams {
  Field<double> lr{3e-4, 0.0, 100.0, "peak learning rate, reached at the end of the warm-up"};
  Field<double> beta1{0.9, 0.0, 0.999999, "decay of the gradients' running mean"};
  Field<double> beta2{0.95, 0.0, 0.999999, "decay of the squared gradients' running mean"};
  Field<double> epsilon{1e-8, 1e-30, 1.0, "added to the root of the squared gradients' mean"};
  Field<double> weight_decay{0.1, 0.0, 10.0,
                             "decoupled weight decay of the classes that decay, times the learning rate"};
};

/// AdamW (Loshchilov and Hutter 2019), one fused pass over each unit's shard.
template <WeightDecayClasses classes> struct AdamWDecaying : DecayingElements<classes> {
  using Hparams = AdamWHparams;
  static constexpr StateBuffers state(ParameterClass) { return {"moment1", "moment2"}; }

  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    adamw(queue, run,
          {.learning_rate = terms.rate(hparams.lr),
           .beta1 = hparams.beta1,
           .beta2 = hparams.beta2,
           .epsilon = hparams.epsilon,
           .weight_decay = AdamWDecaying::weight_decay(run, hparams)},
          terms);
  }
};

/// AdamW that decays matrices and leaves norms and biases alone.
struct AdamW : AdamWDecaying<WeightDecayClasses{}> {};

}  // namespace monomorph::optim

extern template void monomorph::append_fields(monomorph::optim::AdamWHparams&, FieldList&);
