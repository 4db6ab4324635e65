#include <fmt/format.h>
#include <monomorph/core/error.hpp>
#include <monomorph/runtime/kernels/cross_entropy.hpp>
#include "runtime/machine/isa.hpp"

namespace monomorph::kernels {
MONOMORPH_PER_ISA(void token_losses(View logits, const std::int32_t* targets, std::int64_t vocab_size, View loss,
                                    View dlogits, double scale))

LossSum cross_entropy(View logits, const std::int32_t* targets, std::int64_t vocab_size, View loss, View dlogits,
                      double scale) {
  LossSum sum;
  for (std::int64_t row = 0; row < logits.shape.rows; ++row) {
    if (targets[row] == ignored_target) continue;
    if (targets[row] < 0 || targets[row] >= vocab_size) {
      throw Error(
          fmt::format("[KERNEL-02] target id {} (row {} of the batch) is outside the vocabulary of {}; the data "
                      "were packed with another tokenizer: pack them again, or change the model's vocabulary "
                      "size",
                      targets[row], row, vocab_size));
    }
    ++sum.tokens;
  }
  MONOMORPH_SELECT(token_losses)(logits, targets, vocab_size, loss, dlogits, scale);
  for (std::int64_t row = 0; row < logits.shape.rows; ++row) {
    sum.loss += loss.dtype == DType::fp64 ? loss.as<double>()[row] : static_cast<double>(loss.as<float>()[row]);
  }
  return sum;
}

}  // namespace monomorph::kernels
