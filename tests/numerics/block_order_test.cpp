// Blocks of other orders than pre-norm, and mixtures of experts, against autograd in fp64.
#include "numerics/block_recipes.hpp"
#include "support/catch.hpp"

#include <monomorph/block/shaped_block.hpp>
#include <monomorph/model/mixture_of_experts.hpp>

namespace monomorph::testing {
namespace {

/// Every third combination of attention's options, and every norm, for each order.
template <BlockOrder order, int norm> void check_order() {
  [&]<int... i>(std::integer_sequence<int, i...>) {
    (check_block(block_case<typename Composed<order>::template Block<BlockRecipe<norm, 5 * i + norm>>>(order)), ...);
  }
  (std::make_integer_sequence<int, 8>());
}
template <BlockOrder order> void check_order() {
  [&]<int... norm>(std::integer_sequence<int, norm...>) { (check_order<order, norm>(), ...); }
  (std::make_integer_sequence<int, block_norms>());
}

inline constexpr int n_mixtures = 32;

/// Experts from few to more than there are tokens; every option of a mixture meets every value of another here.
constexpr MixtureSpec mixture_spec(int i) {
  Digits digits{i};
  MixtureSpec spec{.n_experts = 4 + i % 5, .top_k = 1 + i % 3};
  spec.scores = digits.flag() ? RouterScores::sigmoid : RouterScores::softmax;
  spec.normalize = digits.flag() && i % 3 != 0;
  if (digits.flag()) spec.capacity_factor = 0.75;
  if (digits.flag()) spec.balance_loss = 0.5;
  if (digits.flag()) spec.bias_rate = 0.01;
  if (i % 3 == 1 && spec.scores == RouterScores::softmax) spec.z_loss = 0.25;
  if (i % 5 > 1) spec.n_shared = i % 5 - 1;
  if (i % 4 > 1) spec.d_expert = 24;
  if (i % 7 == 6) spec.n_experts = 64;
  return spec;
}
constexpr DecoderSpec mixture_model(int i) {
  DecoderSpec model = block_model(i % block_norms, i);
  model.bias.mlp = false;
  model.activation = Activation{(i / 2 + i / 8) % 6};
  return model;
}
template <int i> struct MixtureRecipe {
  static constexpr DecoderSpec model = mixture_model(i);
  using precision = monomorph::precision::Fp64;
  using checkpointing = monomorph::checkpointing::KeepAll;
};

template <int i> void check_mixture() {
  constexpr auto order = static_cast<BlockOrder>((i + i / 4) % 4);
  using Block = typename Composed<order, Mixture<mixture_spec(i)>::template Mlp>::template Block<MixtureRecipe<i>>;
  check_block(block_case<Block>(order));
}

/// What may differ in one model.
template <BlockShape shape> void check_shape() {
  check_block(block_case<typename Shaped<shape>::template Block<BlockRecipe<0, 7>>>());
}

}  // namespace

TEST_CASE("post-norm blocks, against autograd") { check_order<BlockOrder::post_norm>(); }
TEST_CASE("sandwich-norm blocks, against autograd") { check_order<BlockOrder::sandwich_norm>(); }
TEST_CASE("parallel blocks, against autograd") { check_order<BlockOrder::parallel>(); }
TEST_CASE("blocks whose residual stream is normed, against autograd") { check_order<BlockOrder::normed_residual>(); }
TEST_CASE("mixtures of experts, against autograd") {
  [&]<int... i>(std::integer_sequence<int, i...>) { (check_mixture<i>(), ...); }
  (std::make_integer_sequence<int, n_mixtures>());
}
TEST_CASE("blocks of another shape, against autograd") {
  check_shape<BlockShape{.d_ff = 40}>();
  check_shape<BlockShape{.n_heads = 2}>();
  check_shape<BlockShape{.n_heads = 6, .n_kv_heads = 3, .d_ff = 24}>();
}

}  // namespace monomorph::testing
