#pragma once
#include <monomorph/core/rule.hpp>
#include <monomorph/plan/units.hpp>

/// What a recipe must be that keeps matrices in NF4, judged when it is known which parameters are trained.
namespace monomorph::rule {

template <class Finetuning, bool has_some> struct QuantizesSomething {
  static constexpr bool holds = has_some;
  static consteval void explain() {
    static_assert(
        holds,
        "[QUANT-01] a finetuning policy that keeps matrices in NF4 must leave some of them frozen; change what "
        "it trains, or take it out of Nf4Base (docs/rules.md#quant-01)");
  }
};
/// @tparam unit, tensor one that is selected and is no such matrix; -1 if there is none
template <int unit, int tensor> struct QuantizesMatricesOfBlocks {
  static constexpr bool holds = unit < 0;
  static consteval void explain() {
    static_assert(
        holds,
        "[QUANT-02] what is kept in NF4 must be matrices of blocks, of class linear: norms, biases, embedding "
        "and head stay numbers; change the policy's quantizes_parameter (docs/rules.md#quant-02)");
  }
};
/// @tparam unit, tensor one whose rows are not made of blocks of 64; -1 if there is none
template <int unit, int tensor, std::int64_t rows, std::int64_t columns> struct QuantizedRowsFillBlocks {
  static constexpr bool holds = unit < 0;
  static consteval void explain() {
    static_assert(
        holds,
        "[QUANT-03] the elements of a matrix that is kept in NF4 must be a multiple of 64, and its columns even, "
        "as so many share a scale and two share a byte; change the model's sizes, or the policy's "
        "quantizes_parameter (docs/rules.md#quant-03)");
  }
};
/// @tparam unit, tensor where parameters that share a slice differ; -1 if none do
template <int unit, int tensor> struct SlicesAreQuantizedWhole {
  static constexpr bool holds = unit < 0;
  static consteval void explain() {
    static_assert(
        holds,
        "[QUANT-04] parameters that kernels use as one matrix, as those of q, k and v or of the gate and the up "
        "projection, must be kept in NF4 together; change the policy's quantizes_parameter "
        "(docs/rules.md#quant-04)");
  }
};

struct FoundTensor {
  int unit = -1, tensor = -1;
  Shape shape{0, 0};
};
/// The first tensor that is kept in NF4 of which `is_wrong(unit, layout, i)`.
template <class R> consteval FoundTensor first_quantized(auto is_wrong) {
  for (int unit = 0; unit < plan::n_units<R>; ++unit) {
    const ParameterLayout layout = plan::unit_layout<R>(unit);
    for (int i = 0; i < layout.size(); ++i)
      if (plan::quantizes_tensor<R>(unit, layout[i]) && is_wrong(unit, layout, i))
        return {unit, i, layout[i].slice.shape};
  }
  return {};
}

template <class R> consteval auto nf4_rules() {
  if constexpr (!plan::quantizes<R>) {
    return RuleList<>{};
  } else {
    constexpr FoundTensor any = first_quantized<R>([](int, const ParameterLayout&, int) { return true; });
    constexpr FoundTensor no_matrix = first_quantized<R>([](int unit, const ParameterLayout& layout, int i) {
      return !plan::is_block<R>(unit) || layout[i].parameter_class != ParameterClass::linear;
    });
    constexpr FoundTensor odd = first_quantized<R>([](int, const ParameterLayout& layout, int i) {
      const Shape shape = layout[i].slice.shape;
      return shape.elements() % Nf4Places::block != 0 || shape.cols % 2 != 0;
    });
    constexpr FoundTensor divided = first_quantized<R>([](int unit, const ParameterLayout& layout, int i) {
      for (int k = 0; k < layout.size(); ++k)
        if (layout[k].storage == layout[i].storage && !plan::quantizes_tensor<R>(unit, layout[k])) return true;
      return false;
    });
    return RuleList<QuantizesSomething<finetuning_of<R>, (any.unit >= 0)>,
                    QuantizesMatricesOfBlocks<no_matrix.unit, no_matrix.tensor>,
                    QuantizedRowsFillBlocks<odd.unit, odd.tensor, odd.shape.rows, odd.shape.cols>,
                    SlicesAreQuantizedWhole<divided.unit, divided.tensor>>{};
  }
}

}  // namespace monomorph::rule
