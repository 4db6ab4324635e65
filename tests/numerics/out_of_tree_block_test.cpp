// The block of a stranger, with a backward pass of its own, against one with the same tensors that LibTorch's autograd
// goes back through.
#include <monomorph/model/autograd_block.hpp>
#include <monomorph/run.hpp>

#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>

#include "numerics/two_passes.hpp"
#include "out_of_tree/squared_mlp.hpp"

using namespace monomorph;
using monomorph::testing::check_equal, monomorph::testing::passes;

namespace {

template <class R> struct Reference : AutogradBlock<Reference<R>> {
  using Params = typename stranger::SquaredMlp<R>::Params;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static at::Tensor compute(const AutogradInput& in) {
    const at::Tensor x = in.x_BTD();
    const at::Tensor rstd = at::rsqrt(x.square().mean({2}, true).add(R::model.norm.epsilon.value));
    const at::Tensor up =
        at::linear(x.mul(rstd).mul(in.parameter("squared.norm.weight")), in.parameter("squared.up.weight"));
    return x.add(at::linear(at::relu(up).square(), in.parameter("squared.down.weight")));
  }
};

template <template <class> class Block, class Checkpointing> struct two_blocks {
  static constexpr DecoderSpec model{.vocab_size = 61,
                                     .n_layers = 3,
                                     .n_heads = 2,
                                     .d_model = 12,
                                     .context_length = 7,
                                     .bias = {.qkv = false},  // with one, keys' bias has no gradient to compare
                                     .initialization = {.scheme = InitializationScheme::plain, .std = 0.3}};
  using layers = Stack<Run<DecoderBlock, 1>, Run<Block, 2>>;
  using sharding = sharding::Replicate;
  using precision = precision::Fp64;
  using checkpointing = Checkpointing;
  using optimizer = optim::AdamW;
};

}  // namespace

TEMPLATE_TEST_CASE("the gradients of a stranger's block are autograd's", "", checkpointing::KeepAll,
                   checkpointing::RecomputeCheap, checkpointing::EveryBlock) {
  check_equal(passes<two_blocks<stranger::SquaredMlp, TestType>>(),
              passes<two_blocks<Reference, checkpointing::KeepAll>>());
}
