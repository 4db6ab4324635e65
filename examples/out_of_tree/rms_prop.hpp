#pragma once
#include <boost/hana/adapt_struct.hpp>
#include <cmath>
#include <monomorph/core/field.hpp>
#include <monomorph/policy/kernel_sets.hpp>
#include <monomorph/policy/optimizer_policy.hpp>

namespace stranger {

struct RmsPropHparams {
  monomorph::Field<double> lr{1e-3, 0.0, 100.0, "peak learning rate, reached at the end of the warm-up"};
  monomorph::Field<double> alpha{0.99, 0.0, 0.999999, "decay of the squared gradients' running mean"};
  monomorph::Field<double> epsilon{1e-8, 1e-30, 1.0, "added to the root of the squared gradients' mean"};
};

/// RMSProp (Tieleman and Hinton 2012) as PyTorch defines it.
struct RmsProp {
  using Hparams = RmsPropHparams;
  using needs = monomorph::KernelSets<monomorph::kernels::OwnArithmetic>;
  static constexpr monomorph::UpdateScope scope(monomorph::ParameterClass) { return monomorph::UpdateScope::elements; }
  static constexpr monomorph::StateBuffers state(monomorph::ParameterClass) { return {"square_mean"}; }

  template <class Queue> static void update(Queue queue, const auto& run, const Hparams& hparams, const auto& scalars) {
    const double lr = scalars.rate(hparams.lr), alpha = hparams.alpha, epsilon = hparams.epsilon;
    each_element<1>(queue, run, scalars, [=]<class S>(S g, S& w, S& square_mean) {
      square_mean = static_cast<S>(alpha) * square_mean + static_cast<S>(1 - alpha) * g * g;
      w -= static_cast<S>(lr) * g / (std::sqrt(square_mean) + static_cast<S>(epsilon));
    });
  }
};
static_assert(monomorph::OptimizerPolicy<RmsProp>);

}  // namespace stranger

BOOST_HANA_ADAPT_STRUCT(stranger::RmsPropHparams, lr, alpha, epsilon);
