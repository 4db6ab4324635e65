#pragma once
#include <monomorph/plan/units.hpp>

namespace monomorph::plan {

/// Floating-point operations per trained token, forward and backward, in the two definitions of the field.
struct FlopsPerToken {
  /// 6 N + 12 L D T, N all parameters (Chowdhery et al. 2022, appendix B; Modalities).
  double palm = 0;
  /// Three times the matrix products of the forward pass as they are: no embedding look-up, the head counted, attention
  /// scores and values over (T + 1) / 2 keys on average, as causality asks; attention within documents does less, by
  /// how much the data decides.
  double exact = 0;
};

template <class R> constexpr FlopsPerToken flops_per_token() {
  const auto& model = R::model;
  const double T = static_cast<double>(model.context_length.value);
  double forward = 2.0 * static_cast<double>(model.vocab_size.value * model.d_model.value);
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    forward += run.length * static_cast<double>(Block::matmul_flops_per_token());
    forward += run.length * 4.0 * static_cast<double>(model.q_width()) * (T + 1) / 2;
  });
  return {.palm =
              6.0 * static_cast<double>(params<R>) + 12.0 * n_blocks<R> * static_cast<double>(model.d_model.value) * T,
          .exact = 3.0 * forward};
}

}  // namespace monomorph::plan
