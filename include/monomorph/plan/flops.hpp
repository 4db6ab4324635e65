#pragma once
#include <monomorph/plan/units.hpp>

namespace monomorph::plan {

/// Forward, of a block's attention scores and values: what it says in `attention_flops_per_token()`, or none.
template <class Block> constexpr double attention_flops_per_token() {
  if constexpr (requires { Block::attention_flops_per_token(); })
    return static_cast<double>(Block::attention_flops_per_token());
  else
    return 0;
}

/// Floating-point operations per trained token, forward and backward, in the two definitions of the field.
struct FlopsPerToken {
  /// 6 N + 12 L D T, N all parameters, L the blocks with attention (Chowdhery et al. 2022, appendix B; Modalities).
  double palm = 0;
  /// Three times the matrix products of the forward pass as they are: no embedding look-up, the head counted.
  double exact = 0;
};

template <class R> constexpr FlopsPerToken flops_per_token() {
  const auto& model = R::model;
  const double T = static_cast<double>(model.context_length.value);
  int n_attending_blocks = 0;
  double forward = 2.0 * static_cast<double>(model.vocab_size.value * model.d_model.value);
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    const double attention = attention_flops_per_token<Block>();
    if (attention > 0) n_attending_blocks += run.length;
    forward += run.length * (static_cast<double>(Block::matmul_flops_per_token()) + attention);
  });
  return {.palm = 6.0 * static_cast<double>(params<R>) +
                  12.0 * n_attending_blocks * static_cast<double>(model.d_model.value) * T,
          .exact = 3.0 * forward};
}

}  // namespace monomorph::plan
