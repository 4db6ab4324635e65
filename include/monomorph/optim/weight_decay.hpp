#pragma once
#include <monomorph/spec/tensor_info.hpp>

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
    }
    return false;
  }
};

}  // namespace monomorph::optim
