#pragma once
#include "train/scaling/calibration.hpp"

#include <monomorph/spec/decoder_spec.hpp>

#include <string_view>

/// What programs move that round to fp8 by each tensor's own greatest magnitude, counted from their sources and not
/// fitted. Bytes: 2 of an element of bf16, 1 of one of fp8. Blocks are Llama's, with four products: queries, keys and
/// values in one; the one back from attention; the MLP's two up in one; the one down.
namespace bench::published {

inline constexpr std::string_view of_current_scaling = "_fp8_current";  ///< how such a model's name ends

struct ProductWidths {
  double of_norms, of_attention, of_activation;  ///< inputs of products, by what makes them
  double of_up, of_others;                       ///< outputs of products, whose gradients backward rounds
  double inputs() const { return of_norms + of_attention + of_activation; }
  double outputs() const { return of_up + of_others; }
};
inline ProductWidths product_widths(const monomorph::DecoderSpec& model) {
  const auto width = static_cast<double>(model.d_model.value), hidden = static_cast<double>(model.ff_width());
  return {.of_norms = 2 * width,
          .of_attention = static_cast<double>(model.q_width()),
          .of_activation = hidden,
          .of_up = 2 * hidden,
          .of_others = static_cast<double>(model.qkv_width()) + 2 * width};
}

/// LLM.Q, as first published (September 2025): forward_qmm and backward_qmm of src/models/llama_model.cpp. A kernel
/// reads each input and writes it rounded; norms and SwiGLU find the greatest magnitude, which of attention's result
/// and of all gradients but that of the MLP's up another kernel looks for. Backward transposes what forward has
/// rounded, and rounds attention's result once more; gradients it rounds and transposes. Weights are rounded once a
/// step, which is left out, and transposed in each micro-batch.
inline monomorph::train::RoundingBytes rounding_of_llmq(const ProductWidths& w) {
  constexpr double round = 2 + 1, look = 2, transpose = 1 + 1;
  return {.forward_token = round * w.inputs() + look * w.of_attention,
          .backward_token = transpose * (w.of_norms + w.of_activation) + round * w.of_attention +
                            (round + transpose) * w.outputs() + look * w.of_others,
          .forward_weight = 0,
          .backward_weight = transpose,
          .gathered_weight = 1};
}

/// torchao's Float8Linear, tensor-wise, compiled: inputs are kept in bf16 and rounded in forward and, transposed, in
/// backward; gradients are rounded once, to both layouts. The compiler has what makes a tensor find its greatest
/// magnitude, but for attention's result. Ranks round their own parts of weights, gather them in fp8, as torchtitan's
/// guide has it, and backward transposes them.
inline monomorph::train::RoundingBytes rounding_of_torchao(const ProductWidths& w) {
  constexpr double round = 2 + 1, look = 2, round_twice = 2 + 1 + 1, transpose = 1 + 1;
  return {.forward_token = round * w.inputs() + look * w.of_attention,
          .backward_token = round * w.inputs() + round_twice * w.outputs(),
          .forward_weight = 0,
          .backward_weight = transpose,
          .gathered_weight = 1};
}

/// With what a row's program rounds, if its model says that it does.
inline monomorph::train::Calibration with_rounding(monomorph::train::Calibration calibration,
                                                   const monomorph::DecoderSpec& model, std::string_view name,
                                                   std::string_view program) {
  if (!name.ends_with(of_current_scaling)) return calibration;
  const ProductWidths widths = product_widths(model);
  calibration.rounding = program == "compiled" ? rounding_of_torchao(widths) : rounding_of_llmq(widths);
  return calibration;
}

}  // namespace bench::published
