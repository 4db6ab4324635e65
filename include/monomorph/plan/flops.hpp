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

/// Floating-point operations per trained token, forward and backward, in the two definitions of the field. Backward
/// makes gradients of inputs down to the lowest unit that is trained, and of parameters in those that are.
struct FlopsPerToken {
  /// 6 N + 12 L D T, N all parameters, L the blocks with attention (Chowdhery et al. 2022, appendix B; Modalities).
  double palm = 0;
  /// The matrix products as they are: no embedding look-up, the head counted.
  double exact = 0;
};

/// How often a unit computes as much as in forward: once more for gradients of inputs, once more for those of
/// parameters. Backward begins in the head, even if that is a frozen table of tokens.
template <class R> constexpr int passes_with_parameters(int unit) {
  const bool reached = backward_reaches<R>(unit) || unit == head_unit<R>;
  return 1 + (reached ? 1 : 0) + (trains<R>(unit) ? 1 : 0);
}
/// Attention multiplies inputs alone, and backward has two products for each.
template <class R> constexpr int passes_of_attention(int unit) { return backward_reaches<R>(unit) ? 3 : 1; }

template <class R> constexpr FlopsPerToken flops_per_token() {
  const auto& model = R::model;
  const double D = static_cast<double>(model.d_model.value), T = static_cast<double>(model.context_length.value);
  FlopsPerToken flops{.palm = 0,
                      .exact = passes_with_parameters<R>(head_unit<R>) * 2.0 *
                               static_cast<double>(model.vocab_size.value) * D};
  const auto add = [&](int unit, double parameters, double products, double attention) {
    flops.palm += 2.0 * passes_with_parameters<R>(unit) * parameters;
    if (attention > 0) flops.palm += 4.0 * passes_of_attention<R>(unit) * D * T;
    flops.exact += passes_with_parameters<R>(unit) * products + passes_of_attention<R>(unit) * attention;
  };
  int block = 0;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    const auto parameters = static_cast<double>(typename Block::Params{}.parameters());
    for (int i = 0; i < run.length; ++i)
      add(unit_of_block(block++), parameters, static_cast<double>(Block::matmul_flops_per_token()),
          attention_flops_per_token<Block>());
  });
  const auto add_unit = [&](int unit) { add(unit, static_cast<double>(unit_layout<R>(unit).parameters()), 0, 0); };
  add_unit(embedding_unit<R>);
  if (!model.tied_head) add_unit(head_unit<R>);
  return flops;
}

}  // namespace monomorph::plan
