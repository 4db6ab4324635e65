// expect-error: \[QUANT-03\] the elements of a matrix that is kept in NF4 must be a multiple of 64, and its columns even
// expect-text: QuantizedRowsFillBlocks<1, [0-9]+, 64, 63>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](auto& model) { model.d_ff = NEGATIVE ? 63 : 62; });
  using finetuning =
      monomorph::finetuning::Nf4Base<monomorph::finetuning::LowRank<monomorph::LowRankSpec{.rank = 4, .alpha = 8}>>;
};
static_assert(monomorph::admit<Case>());
