// expect-error: \[QUANT-04\] parameters that kernels use as one matrix, as those of q, k and v
// expect-text: SlicesAreQuantizedWhole<1, [0-9]+>
#include "support/control.hpp"
struct Own : monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = 4, .alpha = 8}> {
  static constexpr bool quantizes_parameter(std::string_view name, monomorph::ParameterClass parameter_class) {
    return parameter_class == monomorph::ParameterClass::linear && !(NEGATIVE && name.ends_with("attention.k.weight"));
  }
};
struct Case : Control {
  using finetuning = Own;
};
static_assert(monomorph::admit<Case>());
