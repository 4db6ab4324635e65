#include <monomorph/attention/bidirectional.hpp>
#include <monomorph/attention/per_document.hpp>
#include <monomorph/objective/contrastive_pairs.hpp>
#include <monomorph/plan/traffic.hpp>

#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

namespace {

/// D = 64, F = 256, T = 8 as the recipe by hand, E = 16.
struct EncoderByHand : ByHand {
  static constexpr EncoderSpec model{.vocab_size = ByHand::model.vocab_size,
                                     .n_layers = ByHand::model.n_layers,
                                     .n_heads = ByHand::model.n_heads,
                                     .d_model = ByHand::model.d_model,
                                     .context_length = ByHand::model.context_length,
                                     .d_embedding = 16};
  using attention = attention::PerDocument<attention::Bidirectional>;
  using objective = objective::ContrastivePairs;
};
struct Unprojected : EncoderByHand {
  static constexpr EncoderSpec model = [] {
    EncoderSpec model = EncoderByHand::model;
    model.d_embedding = automatic;
    return model;
  }();
};
/// Its second block has a narrower hidden layer.
struct Narrowed : EncoderByHand {
  using layers = Stack<Run<DecoderBlock, 1>, Run<Shaped<BlockShape{.d_ff = 96}>::Block, 1>>;
};
constexpr std::int64_t of_encoder_block = 12 * 64 * 64 + 13 * 64;

}  // namespace

TEST_CASE("an encoder's head is a norm, and a projection if it is asked for") {
  constexpr std::int64_t V = ByHand::model.vocab_size;
  CHECK(plan::params<Unprojected> == V * 64 + 8 * 64 + 2 * of_encoder_block + 2 * 64);
  CHECK(plan::params<EncoderByHand> == plan::params<Unprojected> + 16 * 64);
  CHECK(plan::n_units<EncoderByHand> == 4);
}

TEST_CASE("a block of an encoder may have a shape of its own") {
  constexpr std::int64_t narrower = 256 - 96;
  CHECK(plan::params<EncoderByHand> - plan::params<Narrowed> == narrower * (2 * 64 + 1));
  static_assert(reshaped(trunk_of<EncoderByHand>, {.n_heads = 8}).position == EncoderByHand::model.position);
  static_assert(trunk_of<WithShape<EncoderByHand, BlockShape{.d_ff = 96}>>.d_ff == 96);
}

TEST_CASE("an encoder's memory for embeddings, by hand") {
  // Two samples of two texts on each of three ranks: pooled rows of 64; raw embeddings and gradients of 4 x 16; those
  // of all ranks, 12 x 17 up to a multiple of 64; 6 x (6 + 2) of similarities, losses and places.
  constexpr plan::Activations<EncoderByHand> of_one(2), of_three(2, 3);
  constexpr auto head = of_three.saved(EmbeddingHead<EncoderByHand>{}, plan::last_layer<EncoderByHand>);
  CHECK(head.pooled_RD.shape == Shape{4, 64});
  CHECK_FALSE(head.dprojected_RE.present());
  CHECK(of_three.statistics.elements - of_one.statistics.elements == (256 + 64) - (128 + 64));
  constexpr plan::Activations<Unprojected> plain(2);
  CHECK_FALSE(plain.saved(EmbeddingHead<Unprojected>{}, plan::last_layer<Unprojected>).pooled_RD.present());
  CHECK(of_one.buffer.elements - plain.buffer.elements == 4 * 64);
  CHECK(plan::memory<EncoderByHand>(3, 2).statistics == 4 * of_three.statistics.elements);
}

TEST_CASE("an encoder's floating-point operations, by hand") {
  constexpr std::int64_t B = 4;
  constexpr int ranks = 3;
  // Forward, backward for inputs and for parameters: a block 2 x 12 x 64^2, and 4 x 64 x 8 as every token sees all.
  constexpr double blocks = 3.0 * 2 * (98'304 + 2'048);
  // Of a sample of 8 tokens, two texts are projected, 2 x 64 x 16 each.
  constexpr double projection = 3.0 * 2 * 2'048 / 8;
  // In each direction a rank compares 12 pairs with 12, 2 x 16 each, of which 4 x 12 have gradients on both sides.
  constexpr double similarities = 2 * (12 * 12 + 2 * 4 * 12) * 2.0 * 16 / (B * 8);
  CHECK(plan::flops_per_token<EncoderByHand>(B, ranks).exact == blocks + projection + similarities);
  CHECK(plan::flops_per_token<Unprojected>(1, 1).exact == blocks + 2 * 3 * 2.0 * 64 / 8);
}

TEST_CASE("what a rank sends of its embeddings, by hand") {
  constexpr plan::Traffic traffic = plan::traffic<EncoderByHand>(3, 0, 5, DType::fp32, 0, 2);
  CHECK(traffic.batch_gathers == plan::CollectiveTraffic{5, 5 * 2 * 4 * 17 * 4});
  CHECK(plan::traffic<EncoderByHand>(1, 0, 5, DType::fp32, 0, 2).batch_gathers == plan::CollectiveTraffic{});
  CHECK(plan::traffic<ByHand>(3, 0, 5, DType::fp32, 0, 2).batch_gathers == plan::CollectiveTraffic{});
}
