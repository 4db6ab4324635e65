#pragma once
#include <monomorph/policy/finetuning_policy.hpp>

namespace monomorph::finetuning {

/// QLoRA (Dettmers et al. 2023): what Policy trains, as LowRank does, beside matrices of blocks that are frozen and
/// kept in NF4, with double quantisation (docs/reference/lora.md). Norms, biases, the embedding and the head stay
/// numbers.
template <class Policy> struct Nf4Base : Policy {
  static constexpr bool quantizes_parameter(std::string_view /*name*/, ParameterClass parameter_class) {
    return parameter_class == ParameterClass::linear;
  }
};

}  // namespace monomorph::finetuning
