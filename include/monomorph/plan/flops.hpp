#pragma once
#include <monomorph/plan/units.hpp>
#include <monomorph/recipe/members.hpp>

namespace monomorph::plan {

/// Forward, of a block's attention scores and values: what it says in `attention_flops_per_token()`, or none.
template <class Block> constexpr double attention_flops_per_token() {
  if constexpr (requires { Block::attention_flops_per_token(); })
    return static_cast<double>(Block::attention_flops_per_token());
  else
    return 0;
}

/// Parameters of a block that a token meets: all but those of which it says so in `idle_parameters()`.
template <class Block> constexpr std::int64_t active_parameters() {
  const std::int64_t all = typename Block::Params{}.parameters();
  if constexpr (requires { Block::idle_parameters(); })
    return all - Block::idle_parameters();
  else
    return all;
}

/// Floating-point operations per trained token, forward and backward, in the two definitions of the field. Backward
/// makes gradients of inputs down to the lowest unit that is trained, and of parameters in those that are.
struct FlopsPerToken {
  /// 6 N + 12 L D T, N the parameters that a token meets, all without experts, L the blocks with attention (Chowdhery
  /// et al. 2022, appendix B; Modalities).
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

/// Matrix products of the head and the loss, forward and backward.
/// @param micro_batch as of flops_per_token()
template <class R>
constexpr double head_flops_per_token([[maybe_unused]] std::int64_t micro_batch, [[maybe_unused]] int ranks) {
  const auto& model = R::model;
  const double D = static_cast<double>(model.d_model.value);
  if constexpr (is_encoder<R>) {
    const double texts = objective_of<R>::texts_per_sample, E = static_cast<double>(model.embedding_width());
    const double projection =
        model.d_embedding.given ? passes_with_parameters<R>(head_unit<R>) * 2.0 * texts * E * D : 0;
    return (projection + objective_of<R>::flops_per_sample(micro_batch, ranks, model.embedding_width())) /
           static_cast<double>(model.context_length.value);
  } else {
    return passes_with_parameters<R>(head_unit<R>) * 2.0 * static_cast<double>(model.vocab_size.value) * D;
  }
}

/// @param micro_batch samples of one rank, which an objective over embeddings compares with those of all ranks
template <class R> constexpr FlopsPerToken flops_per_token(std::int64_t micro_batch = 1, int ranks = 1) {
  const auto& model = R::model;
  const double D = static_cast<double>(model.d_model.value), T = static_cast<double>(model.context_length.value);
  FlopsPerToken flops{.palm = 0, .exact = head_flops_per_token<R>(micro_batch, ranks)};
  const auto add = [&](int unit, double parameters, double products, double attention) {
    flops.palm += 2.0 * passes_with_parameters<R>(unit) * parameters;
    if (attention > 0) flops.palm += 4.0 * passes_of_attention<R>(unit) * D * T;
    flops.exact += passes_with_parameters<R>(unit) * products + passes_of_attention<R>(unit) * attention;
  };
  int block = 0;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    const auto parameters = static_cast<double>(active_parameters<Block>());
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
