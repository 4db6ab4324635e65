#pragma once
#include <monomorph/spec/rotary_spec.hpp>

namespace monomorph {

/// What a layer says of its positions where they are not the model's: all that decides its frequencies, each phrase
/// beginning with "rotary " and without a comma, by which phrases are told apart (train/weights/layers_fact.hpp).
/// @param to train::BlockFeatures
void describe_rotary(const RotarySpec& rotary, auto& to) {
  const auto& [base, llama3, linear, dynamic, yarn] = rotary;
  to.add("rotary base ", base.value);
  if (llama3 != Llama3RotaryScaling{})
    to.add("rotary scaling of Llama 3 by ", llama3.factor.value, " of ", llama3.original_context.value,
           " with factors ", llama3.low_frequency_factor.value, " and ", llama3.high_frequency_factor.value);
  if (linear != LinearRotaryScaling{}) to.add("rotary linear scaling by ", linear.factor.value);
  if (dynamic != DynamicRotaryScaling{})
    to.add("rotary dynamic scaling by ", dynamic.factor.value, " of ", dynamic.original_context.value_or(0));
  if (yarn != YarnRotaryScaling{})
    to.add("rotary YaRN by ", yarn.factor.value, " of ", yarn.original_context.value, " with beta ",
           yarn.beta_fast.value, " to ", yarn.beta_slow.value, yarn.truncate ? "" : " not truncated",
           " and attention factor ", yarn.attention_factor.value_or(0));
}

}  // namespace monomorph
