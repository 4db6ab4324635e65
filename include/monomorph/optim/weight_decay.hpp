#pragma once
#include <monomorph/policy/optimizer_policy.hpp>

namespace monomorph::optim {

/// Which classes of parameters weight decay applies to.
struct WeightDecayClasses {
  bool linear = true, embedding = true, norm = false, bias = false;

  /// The head is a matrix like those of the blocks.
  constexpr bool contain(ParameterClass parameter_class) const {
    switch (parameter_class) {
      case ParameterClass::linear:
      case ParameterClass::head:
        return linear;
      case ParameterClass::embedding:
        return embedding;
      case ParameterClass::norm:
        return norm;
      case ParameterClass::bias:
        return bias;
      case ParameterClass::state:
        return false;
    }
    return false;
  }
};

/// What optimisers have in common that update single elements and let some classes decay.
template <WeightDecayClasses classes> struct DecayingElements {
  static constexpr UpdateScope scope(ParameterClass) { return UpdateScope::elements; }
  static double weight_decay(const auto& run, const auto& hparams) {
    return classes.contain(run.parameter_class) ? hparams.weight_decay : 0.0;
  }
  /// For the fingerprint, and no member: what a derived optimiser may say of the same name changes nothing here either.
  friend constexpr bool weight_decays(const DecayingElements*, ParameterClass parameter_class) {
    return classes.contain(parameter_class);
  }
};

}  // namespace monomorph::optim
