// expect-error: \[PLAN-06\] budget\.micro_batch x context_length, the tokens of a forward pass, must be below 2\^30
// expect-text: TokensCountable<16777216, 32768>
#include "support/control.hpp"
struct Case : Control {
  static constexpr auto model = changed([](monomorph::DecoderSpec& model) { model.context_length = 32'768; });
  static constexpr monomorph::Budget budget{.ranks = 1,
                                            .bytes_per_rank = monomorph::gib(64),
                                            .micro_batch = NEGATIVE ? 16'777'216 : 1};
};
static_assert(monomorph::admit<Case>());
