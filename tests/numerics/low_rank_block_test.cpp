// Blocks with low-rank adapters against autograd in fp64.
#include "numerics/block_recipes.hpp"
#include "numerics/low_rank_recipes.hpp"
#include "support/catch.hpp"

namespace monomorph::testing {
namespace {

template <BlockOrder order, int norm, int attention, LowRankSpec spec> void check_adapted_block() {
  using Block = typename Composed<order>::template Block<Adapted<BlockRecipe<norm, attention>, spec>>;
  check_block(block_case<Block>(order));
}

}  // namespace

TEST_CASE("blocks with low-rank adapters, against autograd") {
  // Attention's and the MLP's options go together as block_model has them: biases, key heads, gates, dropout.
  check_adapted_block<BlockOrder::pre_norm, 0, 0, everywhere_but_gate>();
  check_adapted_block<BlockOrder::pre_norm, 1, 27, everywhere>();
  check_adapted_block<BlockOrder::pre_norm, 2, 9, stabilised>();
  check_adapted_block<BlockOrder::pre_norm, 3, 35, dropped_everywhere>();
  check_adapted_block<BlockOrder::post_norm, 1, 3, dropped_everywhere>();
  check_adapted_block<BlockOrder::sandwich_norm, 1, 45, stabilised>();
  check_adapted_block<BlockOrder::parallel, 0, 11, dropped_everywhere>();
  check_adapted_block<BlockOrder::parallel, 3, 5, queries_and_values>();
}

}  // namespace monomorph::testing
