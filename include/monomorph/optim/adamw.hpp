#pragma once
#include <monomorph/policy/optimizer_policy.hpp>

namespace monomorph::optim {

/// Which classes of parameters weight decay applies to.
struct WeightDecayClasses {
  bool linear = true, embedding = true, norm = false, bias = false;
};

/// AdamW (Loshchilov and Hutter 2019), one fused pass over each unit's shard.
template <WeightDecayClasses classes> struct AdamWDecaying {
  static constexpr std::string_view name = "AdamW";
  static constexpr int moments = 2;
  static constexpr bool decays(ParameterClass parameter_class) {
    switch (parameter_class) {
      case ParameterClass::linear:
        return classes.linear;
      case ParameterClass::embedding:
        return classes.embedding;
      case ParameterClass::norm:
        return classes.norm;
      case ParameterClass::bias:
        return classes.bias;
    }
    return false;
  }
};

/// AdamW that decays matrices and leaves norms and biases alone.
struct AdamW : AdamWDecaying<WeightDecayClasses{}> {};
static_assert(OptimizerPolicy<AdamW>);

}  // namespace monomorph::optim
