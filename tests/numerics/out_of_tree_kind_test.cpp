// A kind of model from out of the tree, with a layer behind its blocks that no other kind has, against a decoder whose
// last block is that layer, by LibTorch's autograd.
#include <monomorph/model/autograd_block.hpp>
#include <monomorph/run.hpp>

#include <ATen/ops/gelu.h>
#include <ATen/ops/linear.h>

#include "numerics/pairs.hpp"
#include "numerics/two_passes.hpp"
#include "out_of_tree/margin_pairs.hpp"
#include "out_of_tree/transformed_encoder.hpp"
#include "support/one_sequence.hpp"

using namespace monomorph;
using monomorph::testing::check_equal, monomorph::testing::Passes, monomorph::testing::passes;
using monomorph::testing::pair_tokens, monomorph::testing::pair_ids, monomorph::testing::Tensors;

namespace {

constexpr std::int64_t T = 7, V = 61, D = 12;

constexpr DecoderSpec blocks(int n, bool tied_head) {
  return {.vocab_size = V,
          .n_layers = n,
          .n_heads = 2,
          .d_model = D,
          .context_length = T,
          .bias = {.qkv = false},  // with one, keys' bias has no gradient to compare
          .tied_head = tied_head,
          .initialization = {.scheme = InitializationScheme::plain, .std = 0.3}};
}

template <class Checkpointing> struct Policies {
  using sharding = sharding::Replicate;
  using precision = precision::Fp64;
  using checkpointing = Checkpointing;
  using optimizer = optim::AdamW;
};

template <bool tied_head, class Checkpointing = checkpointing::KeepAll> struct OfKind : Policies<Checkpointing> {
  static constexpr stranger::TransformedDecoder model{.decoder = blocks(2, tied_head)};
};

/// gelu(W x + b), as a block.
template <class R> struct Reference : AutogradBlock<Reference<R>> {
  static constexpr bool within_documents = true;  ///< no token sees another one
  using Params = typename stranger::PredictionTransform<OfKind<false>>::Params;
  static constexpr std::int64_t matmul_flops_per_token() { return 0; }
  static at::Tensor compute(const AutogradInput& in) {
    return at::gelu(at::linear(in.x_BTD(), in.parameter("transform.weight"), in.parameter("transform.bias")), "tanh");
  }
};
template <bool tied_head> struct OfBlocks : Policies<checkpointing::KeepAll> {
  static constexpr DecoderSpec model = blocks(3, tied_head);
  using layers = Stack<Run<DecoderBlock, 2>, Run<Reference, 1>>;
};

/// The names of that block's tensors are those of the layer, but for the number.
Passes without_number(Passes passes) {
  for (std::string& name : passes.names)
    if (name.starts_with("layers.2.")) name.erase(0, 9);
  return passes;
}

}  // namespace

TEMPLATE_TEST_CASE("the gradients of a stranger's kind of model are autograd's", "", checkpointing::KeepAll,
                   checkpointing::RecomputeCheap, checkpointing::EveryBlock) {
  check_equal(passes<OfKind<false, TestType>>(), without_number(passes<OfBlocks<false>>()));
  check_equal(passes<OfKind<true, TestType>>(), without_number(passes<OfBlocks<true>>()));
}

TEST_CASE("a stranger's kind of model writes with a cache what it would write without one") {
  static_assert(train::every_layer_decodes<OfKind<false>> && !train::every_layer_decodes<OfBlocks<false>>);
  const auto communicator = one_rank();
  train::GeneratingStep<OfKind<false>> own(*communicator, 1, 3);
  train::GeneratingStep<OfBlocks<false>> expected(*communicator, 1, 3);
  monomorph::testing::OneSequence cached(own, T), recomputing(expected, T);
  for (const std::int32_t token : {5, 11, 60, 0, 7}) {
    const float *logits = cached.feed(token), *expected_logits = recomputing.feed(token);
    for (int id = 0; id < V; ++id) CHECK(logits[id] == Approx(expected_logits[id]).epsilon(1e-5).margin(1e-6));
  }
}

TEST_CASE("a stranger's kind of model is planned by its own layers") {
  using Kind = OfKind<false>;
  CHECK(plan::n_units<Kind> == 5);
  CHECK(plan::n_units<OfKind<true>> == 4);
  CHECK(plan::n_blocks<Kind> == 2);
  CHECK(plan::first_block<Kind> == 1);
  CHECK(plan::params<Kind> == plan::params<OfBlocks<false>>);
  CHECK(plan::unit_layout<Kind>(3)[0].name == "transform.weight");
  CHECK_FALSE(plan::is_block<Kind>(3));
}

namespace {

constexpr DecoderSpec trunk_of_pairs(int n) {
  return {.vocab_size = pair_ids,
          .n_layers = n,
          .n_heads = 2,
          .d_model = D,
          .context_length = pair_tokens,
          .bias = {.qkv = false},
          .tied_head = false,
          .initialization = {.scheme = InitializationScheme::plain, .std = 0.3}};
}
template <class Objective, class Checkpointing> struct OfPairs : Policies<Checkpointing> {
  using objective = Objective;
  using attention = attention::PerDocument<attention::Bidirectional>;
};
/// A kind of model that makes embeddings, and an encoder in the tree whose last block is the layer of that kind.
template <class Objective, class Checkpointing = checkpointing::KeepAll>
struct EmbeddingKind : OfPairs<Objective, Checkpointing> {
  static constexpr stranger::TransformedEncoder model{.trunk = trunk_of_pairs(2), .features = 5};
};
template <class Objective> struct EncoderOfBlocks : OfPairs<Objective, checkpointing::KeepAll> {
  static constexpr EncoderSpec model{.vocab_size = pair_ids,
                                     .n_layers = 3,
                                     .n_heads = 2,
                                     .d_model = D,
                                     .context_length = pair_tokens,
                                     .pooling = Pooling::first,
                                     .d_embedding = 5,
                                     .bias = {.qkv = false},
                                     .initialization = {.scheme = InitializationScheme::plain, .std = 0.3}};
  using layers = Stack<Run<DecoderBlock, 2>, Run<Reference, 1>>;
};

/// The parameters of a model, and what it makes of a micro-batch of pairs.
struct OfMicroBatch {
  Tensors parameters, gradients;
  double loss;
  testing::Values embeddings;
};
template <Recipe R> OfMicroBatch of_micro_batch() {
  constexpr std::int64_t B = 6;
  const auto communicator = one_rank();
  train::Step<R> step(*communicator, B, 3);
  const Tensors parameters = testing::values_of(step.parameters());
  const double loss = testing::accumulate(step, testing::Pairs(B).from(0), 1, {}).loss;
  return {parameters, testing::values_of(step.gradients()), loss, testing::values_of(step.embeddings())};
}
Tensors without_number(Tensors tensors) {
  for (const char* const name : {"transform.weight", "transform.bias"}) {
    auto numbered = tensors.extract("layers.2." + std::string(name));
    numbered.key() = name;
    tensors.insert(std::move(numbered));
  }
  return tensors;
}
template <class Objective, class Checkpointing = checkpointing::KeepAll> void check_embeddings() {
  const OfMicroBatch own = of_micro_batch<EmbeddingKind<Objective, Checkpointing>>(),
                     expected = of_micro_batch<EncoderOfBlocks<Objective>>();
  REQUIRE(own.parameters == without_number(expected.parameters));
  testing::check_close(own.loss, expected.loss, 1e-12);
  CHECK(testing::relative_error(own.embeddings, expected.embeddings) < 1e-12);
  testing::check_gradients(own.gradients, without_number(expected.gradients), 1e-10);
}

}  // namespace

TEST_CASE("a stranger's kind of model that makes embeddings has the gradients of autograd") {
  check_embeddings<objective::ContrastivePairs>();
  check_embeddings<objective::ContrastivePairs, checkpointing::EveryBlock>();
  check_embeddings<stranger::MarginPairs>();
}

TEST_CASE("a stranger's kind of model that makes embeddings trains on several ranks as on one") {
  testing::check_ranks<EmbeddingKind<objective::ContrastivePairs>>({}, 1e-11);
}

TEST_CASE("a stranger's kind of model that makes embeddings is planned and described by its own layers") {
  using Kind = EmbeddingKind<objective::ContrastivePairs>;
  CHECK(plan::n_units<Kind> == 5);
  CHECK(plan::n_blocks<Kind> == 2);
  CHECK(plan::params<Kind> == plan::params<EncoderOfBlocks<objective::ContrastivePairs>>);
  CHECK(plan::unit_layout<Kind>(4)[2].name == "projection.weight");
  CHECK(plan::unit_layout<Kind>(4)[2].slice.shape == Shape{5, D});
}
