// expect-error: \[QUANT-02\] what is kept in NF4 must be matrices of blocks, of class linear
// expect-error: \[QUANT-02\] what is kept in NF4 must be matrices of blocks, of class linear
// expect-text: QuantizesMatricesOfBlocks<0, 0>
// expect-text: QuantizesMatricesOfBlocks<0, [1-9]>
#include "support/control.hpp"
using monomorph::ParameterClass;
using Adapters = monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = 4, .alpha = 8}>;
template <ParameterClass other> struct Own : Adapters {
  static constexpr bool quantizes_parameter(std::string_view, ParameterClass parameter_class) {
    return parameter_class == ParameterClass::linear || (NEGATIVE && parameter_class == other);
  }
};
template <ParameterClass other> struct Case : Control { using finetuning = Own<other>; };
static_assert(monomorph::admit<Case<ParameterClass::embedding>>());
static_assert(monomorph::admit<Case<ParameterClass::norm>>());
