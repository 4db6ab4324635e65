// The block of a stranger, and a block of which a part is a stranger's, with backward passes of their own, against ones
// with the same tensors that LibTorch's autograd goes back through; and a fine-tuning policy of a stranger's.
#include <monomorph/model/autograd_block.hpp>
#include <monomorph/run.hpp>

#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>
#include <ATen/ops/scaled_dot_product_attention.h>

#include "numerics/two_passes.hpp"
#include "out_of_tree/adapters_and_norms.hpp"
#include "out_of_tree/deep_mlp.hpp"
#include "out_of_tree/squared_mlp.hpp"

#include <algorithm>

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

template <class R>
using WithDeepMlp = typename Composed<BlockOrder::pre_norm, stranger::DeepMlp<3>::template Part>::template Block<R>;

/// Pre-norm, with causal attention and an MLP of two hidden layers.
template <class R> struct DeepReference : AutogradBlock<DeepReference<R>> {
  using Params = typename WithDeepMlp<R>::Params;
  static constexpr bool within_documents = true;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static at::Tensor compute(const AutogradInput& in) {
    const at::Tensor x = in.x_BTD(), normed = normalized(in, x, "attention_norm.weight");
    const at::Tensor attended = at::scaled_dot_product_attention(heads(in, normed, "attention.q.weight"),
                                                                 heads(in, normed, "attention.k.weight"),
                                                                 heads(in, normed, "attention.v.weight"), {}, 0, true);
    const at::Tensor middle =
        x.add(at::linear(attended.transpose(1, 2).reshape(x.sizes()), in.parameter("attention.out.weight")));
    const at::Tensor up =
        squared(at::linear(normalized(in, middle, "deep_norm.weight"), in.parameter("deep.up.weight")));
    return middle.add(
        at::linear(squared(at::linear(up, in.parameter("deep.middle.weight"))), in.parameter("deep.down.weight")));
  }

 private:
  static at::Tensor normalized(const AutogradInput& in, const at::Tensor& x, std::string_view weight) {
    return x.mul(at::rsqrt(x.square().mean({2}, true).add(R::model.norm.epsilon.value))).mul(in.parameter(weight));
  }
  static at::Tensor heads(const AutogradInput& in, const at::Tensor& x, std::string_view weight) {
    const at::Tensor y = at::linear(x, in.parameter(weight));
    return y.view({in.batch(), in.tokens(), R::model.n_heads.value, -1}).transpose(1, 2);
  }
  static at::Tensor squared(const at::Tensor& x) { return at::relu(x).square(); }
};

template <template <class> class Block, class Checkpointing> struct two_blocks {
  static constexpr DecoderSpec model{.vocab_size = 61,
                                     .n_layers = 3,
                                     .n_heads = 2,
                                     .d_model = 12,
                                     .context_length = 7,
                                     .norm = {.kind = NormKind::rms_norm, .bias = false},
                                     .bias = {.qkv = false, .attention_out = false, .mlp = false},
                                     .tied_head = false,
                                     .initialization = {.scheme = InitializationScheme::plain, .std = 0.3}};
  using layers = Stack<Run<DecoderBlock, 1>, Run<Block, 2>>;
  using sharding = sharding::Replicate;
  using precision = precision::Fp64;
  using checkpointing = Checkpointing;
  using optimizer = optim::AdamW;
};

}  // namespace

TEMPLATE_TEST_CASE("the gradients of a stranger's block are autograd's", "", checkpointing::KeepAll,
                   checkpointing::RecomputeCheap, checkpointing::Selective<Recompute{.mlp = true}>,
                   checkpointing::EveryBlock) {
  check_equal(passes<two_blocks<stranger::SquaredMlp, TestType>>(),
              passes<two_blocks<Reference, checkpointing::KeepAll>>());
}

TEMPLATE_TEST_CASE("the gradients of a block with a stranger's part are autograd's", "", checkpointing::KeepAll,
                   checkpointing::RecomputeCheap, checkpointing::Selective<Recompute{.mlp = true}>,
                   checkpointing::EveryBlock) {
  check_equal(passes<two_blocks<WithDeepMlp, TestType>>(), passes<two_blocks<DeepReference, checkpointing::KeepAll>>());
}

namespace {

struct all_trained : two_blocks<WithDeepMlp, checkpointing::KeepAll> {
  struct finetuning {  // the same adapters, beside all the rest
    static constexpr LowRankSpec low_rank = stranger::AdaptersAndNorms<1>::low_rank;
    static constexpr bool trains(UnitKind, int) { return true; }
  };
};
struct tuned : two_blocks<WithDeepMlp, checkpointing::KeepAll> {
  using finetuning = stranger::AdaptersAndNorms<1>;
};

}  // namespace

TEST_CASE("a stranger's fine-tuning policy trains what it says, by the gradients that it has when all is trained") {
  const auto all = passes<all_trained>(), of_tuned = passes<tuned>();
  CHECK(of_tuned.loss == all.loss);
  std::size_t n_trained = 0;
  for (std::size_t i = 0; i < all.names.size(); ++i) {
    const std::string& name = all.names[i];
    CAPTURE(name);
    const bool is_above =
        !name.starts_with("layers.0.") && !name.starts_with("embedding") && !name.starts_with("position");
    const bool trains = is_above && (name.find("lora_") != std::string::npos || name.find("norm") != std::string::npos);
    const auto found = std::find(of_tuned.names.begin(), of_tuned.names.end(), name);
    REQUIRE((found != of_tuned.names.end()) == trains);
    if (!trains) continue;
    ++n_trained;
    CHECK(of_tuned.gradients[found - of_tuned.names.begin()] == all.gradients[i]);
  }
  CHECK(n_trained == of_tuned.names.size());
  CHECK(n_trained == 2 * (2 * 2 + 2) + 1);  // in two blocks A and B of q and v, and two norms; and the last norm
}
