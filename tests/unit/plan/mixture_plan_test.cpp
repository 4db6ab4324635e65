// What is planned for mixtures of experts and blocks of several shapes, worked by hand.
#include <monomorph/plan/fingerprint.hpp>

#include "support.hpp"
#include "support/catch.hpp"

#include <algorithm>

namespace mixture_plan_test {

using namespace monomorph;

namespace {

/// Experts of width 32, in the place of an MLP of width 256.
inline constexpr MixtureSpec spec{.n_experts = 4, .top_k = 2, .d_expert = 32, .n_shared = 1, .bias_rate = 0.001};
inline constexpr MixtureSpec limited{.n_experts = 4, .top_k = 2, .d_expert = 32, .capacity_factor = 0.7};

struct WithoutBiases : ByHand {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = ByHand::model;
    model.bias = no_biases;
    return model;
  }();
};
struct Experts : WithoutBiases {
  using layers = Stack<Run<Mixture<spec>::Block, 2>>;
};
struct Limited : WithoutBiases {
  using layers = Stack<Run<Mixture<limited>::Block, 2>>;
};
struct TwoShapes : WithoutBiases {
  using layers = Stack<Run<Shaped<BlockShape{.n_heads = 1, .d_ff = 128}>::Block, 1>, Run<DecoderBlock, 1>>;
};
struct WithMuon : Experts {
  using optimizer = optim::ByClass<optim::Muon, optim::AdamW>;
};

constexpr std::int64_t D = 64, projections = 4 * D * D, norms = 4 * D, F = 32, expert = 2 * F * D, router = 4 * D;
constexpr std::int64_t table = 10 * D + 8 * D + 2 * D;  // with positions and the final norm

}  // namespace

TEST_CASE("parameters of a mixture, by hand") {
  STATIC_REQUIRE(plan::params<Experts> == table + 2 * (projections + norms + router + 4 + 4 * expert + expert));
  STATIC_REQUIRE(plan::params<Limited> == table + 2 * (projections + norms + router + 4 * expert));
}

TEST_CASE("floating-point operations of a mixture are those of the experts that a token goes to") {
  constexpr auto flops = plan::flops_per_token<Experts>();
  // head; twice attention, router, two experts and a shared one; scores and values as in a dense block
  CHECK(flops.exact == 3.0 * (2 * 10 * D + 2 * (2 * (projections + router + 3 * expert) + 4 * 64 * 9 / 2)));
  CHECK(flops.palm == 6.0 * static_cast<double>(plan::params<Experts> - 2 * 2 * expert) + 12 * 2 * 64 * 8);
}

TEST_CASE("activations of a mixture, by hand") {
  // 16 tokens, 32 rows of pairs; every slice is padded to a multiple of 64.
  constexpr std::int64_t M = 16, N = 32, MD = M * D;
  constexpr std::int64_t saved = MD + M * 192 + MD + MD + MD + 2 * N * F + 2 * M * F;
  constexpr plan::Memory memory = plan::memory<Experts>(1, 2);
  // inputs of two blocks, the output; gradient and head; two blocks; the experts' rows twice and their hidden gradient,
  // which are more than attention's temporaries
  CHECK(memory.activations == 4 * (3 * MD + 2 * MD + 2 * saved + 2 * N * D + N * F));
  // of a block two norms and two heads' log-sum-exps; scores, weights, experts, rows, pairs, counts and begins
  CHECK(memory.statistics == 4 * (2 * (5 + 7) * 64 + 3 * 64 + 256));
  // Of 32 pairs an expert takes 0.7 x 8 = 5.6, rounded up.
  constexpr std::int64_t rows = 4 * 6;
  CHECK(plan::memory<Limited>(1, 2).activations ==
        4 * (3 * MD + 2 * MD + 2 * (saved - 2 * M * F - 2 * (N - rows) * F) + 4 * MD));
}

TEST_CASE("experts are matrices of their own to an optimizer of matrices") {
  std::vector<Shape> matrices;
  plan::for_each_transformed<WithMuon>(1,
                                       [&](const plan::TransformedMatrix& of) { matrices.push_back(of.matrix.shape); });
  CHECK(std::ranges::count(matrices, Shape{F, D}) == 4 + 1);
  CHECK(std::ranges::count(matrices, Shape{D, F}) == 4 + 1);
  CHECK(std::ranges::count(matrices, Shape{4, D}) == 1);
  CHECK(std::ranges::count(matrices, Shape{4 * F, D}) == 0);
}

TEST_CASE("an optimizer keeps nothing of biases that balance") {
  using optimizer = Experts::optimizer;
  STATIC_REQUIRE(state_buffers<optimizer>(ParameterClass::state).n == 0);
  STATIC_REQUIRE(update_scope<WithMuon::optimizer>(ParameterClass::state) == UpdateScope::elements);
}

TEST_CASE("blocks of two shapes are planned as they are") {
  // One head of width 32 in the place of two, and half of the hidden width.
  constexpr std::int64_t narrow = 4 * 32 * D + 2 * 128 * D + norms, usual = projections + 2 * 256 * D + norms;
  STATIC_REQUIRE(plan::params<TwoShapes> == table + narrow + usual);
  STATIC_REQUIRE(plan::fingerprint<TwoShapes> != plan::fingerprint<WithoutBiases>);
  STATIC_REQUIRE(plan::fingerprint<Experts> != plan::fingerprint<Limited>);
}

}  // namespace mixture_plan_test
