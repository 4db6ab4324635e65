// The block of a stranger, with a backward pass of its own, against one with the same tensors that LibTorch's autograd
// goes back through.
#include <monomorph/model/autograd_block.hpp>
#include <monomorph/run.hpp>
#include <monomorph/runtime/comm/world.hpp>
#include <monomorph/train/step/step.hpp>

#include <ATen/ops/linear.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/rsqrt.h>

#include "out_of_tree/squared_mlp.hpp"
#include "support/adamw_update.hpp"
#include "support/catch.hpp"

#include <cmath>

using namespace monomorph;
using monomorph::testing::accumulate;

namespace {

template <class R> struct Reference : AutogradBlock<Reference<R>> {
  static constexpr std::string_view name = "Reference";
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

struct Passes {
  double loss;
  std::vector<std::string> names;
  std::vector<std::vector<double>> gradients;
};

/// Loss and gradients of two micro-batches.
template <class R> Passes passes() {
  constexpr std::int64_t batch = 2, n_tokens = batch * 7;
  std::vector<std::int32_t> inputs;
  for (int i = 0; i < n_tokens; ++i) inputs.push_back(i * 17 % 61);
  const std::vector<std::int32_t> targets(inputs.rbegin(), inputs.rend());
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, batch, 3);
  Passes passes{.loss = 0, .names = {}, .gradients = {}};
  passes.loss += accumulate(step, {inputs.data(), targets.data(), 0}, 0, {0, 2}).loss;
  passes.loss += accumulate(step, {targets.data(), inputs.data(), 2}, 0, {1, 2}).loss;
  for (const train::StateTensor& tensor : step.gradients()) {
    passes.names.push_back(tensor.name);
    passes.gradients.emplace_back(tensor.view.template as<double>(),
                                  tensor.view.template as<double>() + tensor.view.elements());
  }
  return passes;
}

double norm(const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) squares += value * value;
  return std::sqrt(squares);
}

}  // namespace

TEMPLATE_TEST_CASE("the gradients of a stranger's block are autograd's", "", checkpointing::KeepAll,
                   checkpointing::RecomputeCheap, checkpointing::EveryBlock) {
  const Passes own = passes<two_blocks<stranger::SquaredMlp, TestType>>();
  const Passes expected = passes<two_blocks<Reference, checkpointing::KeepAll>>();
  CHECK(own.loss == Approx(expected.loss).epsilon(1e-12));
  REQUIRE(own.names == expected.names);
  for (std::size_t i = 0; i < own.names.size(); ++i) {
    CAPTURE(own.names[i]);
    std::vector<double> difference = own.gradients[i];
    for (std::size_t j = 0; j < difference.size(); ++j) difference[j] -= expected.gradients[i][j];
    CHECK(norm(expected.gradients[i]) > 1e-6);
    CHECK(norm(difference) < 1e-10 * norm(expected.gradients[i]));
  }
}
