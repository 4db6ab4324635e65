#pragma once
#include <monomorph/core/field.hpp>
#include <monomorph/optim/weight_decay.hpp>
#include <monomorph/policy/kernel_sets.hpp>

namespace monomorph::optim {

struct SgdHparams {
  Field<double> lr{0.1, 0.0, 100.0, "peak learning rate, reached at the end of the warm-up"};
  Field<double> momentum{0.9, 0.0, 0.999999, "decay of the gradients' running sum"};
  Field<bool> nesterov{false, "step along the gradient that the momentum leads to (Nesterov), and not along the sum"};
  Field<double> weight_decay{0.0, 0.0, 10.0, "of the classes that decay, times the parameter: added to its gradient"};
};

/// Stochastic gradient descent with momentum (Sutskever et al. 2013), as PyTorch defines it: b = momentum b + g, and
/// the parameter loses lr b, or with Nesterov lr (g + momentum b). Weight decay is part of g.
template <WeightDecayClasses classes> struct SgdDecaying : DecayingElements<classes> {
  using Hparams = SgdHparams;
  using needs = KernelSets<kernels::Sgd>;
  static constexpr StateBuffers state(ParameterClass) { return {"momentum"}; }

  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& terms) {
    sgd(queue, run,
        {.learning_rate = terms.rate(hparams.lr),
         .momentum = hparams.momentum,
         .nesterov = hparams.nesterov,
         .weight_decay = SgdDecaying::weight_decay(run, hparams)},
        terms);
  }
};

/// Sgd that decays matrices and leaves norms and biases alone.
struct Sgd : SgdDecaying<WeightDecayClasses{}> {};

}  // namespace monomorph::optim

extern template void monomorph::append_fields(monomorph::optim::SgdHparams&, FieldList&);
