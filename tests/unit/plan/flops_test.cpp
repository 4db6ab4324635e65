#include <monomorph/block/autograd_block.hpp>

#include "support.hpp"
#include "support/catch.hpp"

using namespace monomorph;

namespace {

/// One matrix, and no attention.
template <class R> struct LinearBlock : AutogradBlock<LinearBlock<R>> {
  static constexpr std::int64_t D = R::model.d_model;
  struct Params : ParameterLayout {
    constexpr explicit Params(int /*block*/ = 0) { take_tensor("weight", {D, D}, ParameterClass::linear, {}); }
  };
  static constexpr std::int64_t matmul_flops_per_token() { return 2 * D * D; }
};
struct Mixed : ByHand {
  using layers = Stack<Run<DecoderBlock, 1>, Run<LinearBlock, 1>>;
};

}  // namespace

// Worked by hand. Every number is an integer below 2^53, so equality is exact.
TEST_CASE("floating-point operations per token of GPT-2 124M") {
  constexpr auto flops = plan::flops_per_token<Of<models::gpt2_124m>>();
  CHECK(flops.palm == 859'885'056);  // 6 x 124,439,808 + 12 x 12 x 768 x 1024
  // head 2 x 50,257 x 768; a block 2 x 12 x 768^2, and 4 x 768 x 1025 / 2 for its attention
  CHECK(flops.exact == 3.0 * (77'194'752 + 12 * (14'155'776 + 1'574'400)));
  CHECK(flops.exact == 797'870'592);
}

TEST_CASE("the hardware computes the rows that pad the vocabulary, too") {
  constexpr auto flops = plan::flops_per_token<Of<models::gpt2_124m>>();
  CHECK(flops.hardware - flops.exact == 3.0 * 2 * 47 * 768);  // 50,304 rows of 50,257 ids
  constexpr auto unpadded = plan::flops_per_token<Of<models::llama3_8b>>();
  CHECK(unpadded.hardware == unpadded.exact);
}

TEST_CASE("floating-point operations per token of Llama 3 8B") {
  constexpr auto flops = plan::flops_per_token<Of<models::llama3_8b>>();
  CHECK(flops.palm == 61'066'469'376);
  // a block: query and out 2 x 4096^2, key and value 2 x 4096 x 1024, three of 4096 x 14,336
  CHECK(flops.exact == 51'471'187'968);
}

namespace {

template <class R, class Policy> struct Recomputing : R { using checkpointing = Policy; };
/// By a policy, the FLOPs per token that are computed again.
template <class R, class Policy> constexpr double computed_again() {
  return plan::flops_per_token<Recomputing<R, Policy>>().hardware -
         plan::flops_per_token<Recomputing<R, checkpointing::KeepAll>>().hardware;
}
struct Gpt2 : Of<models::gpt2_124m> {};
template <BlockOrder order> struct Ordered : Gpt2 { using layers = Stack<Run<Composed<order>::template Block, 12>>; };
struct OfExperts : Gpt2 {
  static constexpr auto model = [] {
    DecoderSpec model = Gpt2::model;
    model.bias.mlp = false;
    return model;
  }();
  using layers = Stack<Run<Mixture<MixtureSpec{.n_experts = 4, .top_k = 2}>::Block, 12>>;
};
struct HalfFrozen : Gpt2 {
  using finetuning = finetuning::FreezeFirst<6>;
};

}  // namespace

TEST_CASE("what activation checkpointing computes again is counted beside the exact number") {
  // A block of GPT-2 124M: queries, keys and values 2 x 3 x 768^2, attention 4 x 768 x 1025 / 2, its output 2 x 768^2,
  // the MLP's first product 2 x 4 x 768^2. What its second one gives is the next block's input, which was kept.
  constexpr double block = 2.0 * (3 + 1 + 4) * 768 * 768 + 1'574'400;
  CHECK(computed_again<Gpt2, checkpointing::RecomputeCheap>() == 0);
  CHECK(computed_again<Gpt2, checkpointing::EveryBlock>() == 12 * block);
  CHECK(computed_again<Gpt2, checkpointing::EveryNthBlock<3>>() == 4 * block);
  CHECK(computed_again<HalfFrozen, checkpointing::EveryBlock>() == 6 * block);
  using checkpointing::EveryBlock;
  CHECK(computed_again<Ordered<BlockOrder::sandwich_norm>, EveryBlock>() == 12 * (14'155'776 + 1'574'400.0));
  CHECK(computed_again<Ordered<BlockOrder::post_norm>, EveryBlock>() == 12 * (14'155'776 + 1'574'400.0));
  CHECK(computed_again<Ordered<BlockOrder::parallel>, EveryBlock>() == 12 * (block - 2.0 * 768 * 768));
  CHECK(computed_again<Ordered<BlockOrder::normed_residual>, EveryBlock>() == 12 * block);
  // By choice: what is no product costs none, and all products are the whole block's.
  using checkpointing::Selective;
  constexpr double qkv = 2.0 * 3 * 768 * 768, projection = 2.0 * 768 * 768, mlp = 2.0 * 4 * 768 * 768;
  CHECK(computed_again<Gpt2, Selective<Recompute{.norm = true}>>() == 0);
  CHECK(computed_again<Gpt2, Selective<Recompute{.activation = true}>>() == 0);
  CHECK(computed_again<Gpt2, Selective<Recompute{.qkv = true}>>() == 12 * qkv);
  CHECK(computed_again<Gpt2, Selective<Recompute{.attention = true}>>() == 12 * 1'574'400.0);
  CHECK(computed_again<Gpt2, Selective<Recompute{.projection = true}>>() == 12 * projection);
  CHECK(computed_again<Gpt2, Selective<Recompute{.mlp = true}>>() == 12 * mlp);
  CHECK(computed_again<Gpt2, Selective<Recompute::block>>() == 12 * block);
  CHECK(computed_again<Gpt2, Selective<Recompute{.mlp = true}, checkpointing::EveryNthBlock<3>>>() == 4 * mlp);
  CHECK(computed_again<HalfFrozen, Selective<Recompute{.mlp = true}>>() == 6 * mlp);
  // Where a norm reads what the MLP gives, its last product is repeated, too.
  CHECK(computed_again<Ordered<BlockOrder::sandwich_norm>, Selective<Recompute{.projection = true}>>() ==
        12 * (projection + mlp));
  // Experts: the router's product is repeated with the whole block alone.
  constexpr double expert = 2.0 * 2 * 768 * 3072, router = 2.0 * 768 * 4;
  CHECK(computed_again<OfExperts, Selective<Recompute{.mlp = true}>>() == 12 * expert);
  CHECK(computed_again<OfExperts, EveryBlock>() == 12 * (block - mlp + expert + router));
  // A block with autograd computes all of forward again.
  CHECK(computed_again<Mixed, EveryBlock>() == (98'304 - 2 * 4 * 64 * 64 + 1'152) + 8'192);
}

TEST_CASE("a block that does not attend costs no attention") {
  constexpr auto flops = plan::flops_per_token<Mixed>();
  // head 2 x 10 x 64; the decoder block 2 x 12 x 64^2, and 4 x 64 x 9 / 2 for its attention; the other 2 x 64^2
  CHECK(flops.exact == 3.0 * (1'280 + 98'304 + 1'152 + 8'192));
  // embedding 10 x 64, positions 8 x 64, final norm 2 x 64; 49,984 in the decoder block with its norms and biases; 64^2
  CHECK(flops.palm == 6 * (640 + 512 + 128 + 49'984 + 4'096) + 12 * 1 * 64 * 8);
}

namespace {

/// A query and a key of a row of T tokens, each pair asked whether the query sees the key.
template <class Sees> constexpr std::int64_t count_pairs(std::int64_t T, Sees sees) {
  std::int64_t pairs = 0;
  for (std::int64_t query = 0; query < T; ++query)
    for (std::int64_t key = 0; key < T; ++key) pairs += sees(query, key) ? 1 : 0;
  return pairs;
}
void check_pairs(const AttentionMask& mask, auto sees) {
  for (const std::int64_t T : {1, 2, 3, 8, 9, 10, 31, 100}) {
    CAPTURE(mask.before, mask.after, mask.prefix, T);
    const std::int64_t expected = count_pairs(T, sees);
    CHECK(mask.pairs(T) == expected);
    std::int64_t in_ranges = 0;
    for (std::int64_t query = 0; query < T; ++query) {
      const KeyRange keys = mask.keys(query, {0, T});
      in_ranges += keys.end - keys.first;
      for (std::int64_t key = 0; key < T; ++key) CHECK(sees(query, key) == (keys.first <= key && key < keys.end));
    }
    CHECK(in_ranges == expected);
  }
}

struct Windowed : ByHand {
  using attention = monomorph::attention::SlidingWindow<3>;
};
struct Alternating : ByHand {
  using layers = Stack<Run<DecoderBlockWith<monomorph::attention::SlidingWindow<3>>::Block, 1>, Run<DecoderBlock, 1>>;
};

}  // namespace

TEST_CASE("a mask's pairs of a query and a key are those of its definition") {
  check_pairs(AttentionMask{}, [](auto query, auto key) { return key <= query; });
  check_pairs(monomorph::attention::Bidirectional::mask, [](auto, auto) { return true; });
  for (const std::int64_t n : {1, 2, 9, 10, 40}) {
    check_pairs({.before = n - 1}, [n](auto query, auto key) { return key <= query && query - key < n; });
    check_pairs({.prefix = n}, [n](auto query, auto key) { return key <= query || key < n; });
    check_pairs({.before = n, .after = 2 * n},
                [n](auto query, auto key) { return key >= query - n && key <= query + 2 * n; });
    check_pairs({.before = 5, .after = 3, .prefix = n},
                [n](auto query, auto key) { return key >= query - 5 && (key <= query + 3 || key < n); });
  }
}

TEST_CASE("floating-point operations of attention are those of the keys that are seen") {
  constexpr double causal = plan::flops_per_token<ByHand>().exact, windowed = plan::flops_per_token<Windowed>().exact,
                   alternating = plan::flops_per_token<Alternating>().exact;
  // Rows of 8 tokens, width 64: 36 pairs where the mask is causal, 1 + 2 + 6 x 3 = 21 in a window of three.
  const double of_layer = 3.0 * 4 * 64 * (36 - 21) / 8;
  CHECK(causal - windowed == 2 * of_layer);
  CHECK(causal - alternating == of_layer);
  CHECK(plan::flops_per_token<Windowed>().palm == plan::flops_per_token<ByHand>().palm);  // knows no masks
}

TEST_CASE("a mask takes no memory") {
  CHECK(plan::memory<Windowed>(1, 2).total() == plan::memory<ByHand>(1, 2).total());
  CHECK(plan::memory<Alternating>(1, 2).total() == plan::memory<ByHand>(1, 2).total());
}
