// Every precision, activation checkpointing, optimiser and objective that the device has, each in a recipe or more, on
// a simulated GPU: the losses of a CPU.
#include "simulator/simulated_step.hpp"
#include "support/catch.hpp"

#include <monomorph/optim/averaged.hpp>
#include <monomorph/optim/bf16_state.hpp>

#include <algorithm>
#include <cmath>

namespace monomorph::testing {
namespace {

template <class R, class Precision, class Checkpointing, class Optimizer, class Objective> struct Of : R {
  using precision = Precision;
  using checkpointing = Checkpointing;
  using optimizer = Optimizer;
  using objective = Objective;
};

template <class R> struct Masked : R { using attention = attention::Bidirectional; };

template <class R> void check_losses(double tolerance) {
  constexpr int n_steps = 4;
  const std::vector<double> cpu = losses_of<R>(n_steps), gpu = losses_of<OnGpu<R>>(n_steps);
  double greatest = 0;
  for (int i = 0; i < n_steps; ++i) greatest = std::max(greatest, std::abs(gpu[i] / cpu[i] - 1));
  CHECK(greatest < tolerance);
}

using Gpt2 = Small<gpt2_like>;
using Llama = Small<llama_like>;
template <class R> using Deeper = Small<R, 4>;
using NextToken = objective::NextToken;
using MaskedTokens = objective::MaskedTokens<49>;
using namespace optim;
using namespace checkpointing;

struct PureFp8 : precision::Bf16Pure {
  static constexpr int amax_history = 2, scale_margin = 1;
};

template <class R, MixtureSpec spec> struct WithExperts : R {
  static constexpr auto model = [] {
    auto model = R::model;
    model.bias.mlp = false;
    return model;
  }();
  using layers = Stack<Run<DecoderBlock, 1>, Run<Mixture<spec>::template Block, R::model.n_layers - 1>>;
};
constexpr MixtureSpec losing_tokens{
    .n_experts = 5, .top_k = 2, .capacity_factor = 1.25, .n_shared = 1, .balance_loss = 0.01, .z_loss = 0.001};
constexpr MixtureSpec dropless{
    .n_experts = 6, .top_k = 2, .scores = RouterScores::sigmoid, .normalize = false, .bias_rate = 0.01};

template <class R> struct Adapted : R {
  using finetuning = finetuning::LowRank<
      LowRankSpec{.rank = 4,
                  .alpha = 6,
                  .dropout = 0.2,
                  .targets = {.key = true, .output = true, .gate = true, .up = true, .down = true}}>;
};

}  // namespace

TEST_CASE("bf16, cheap activations recomputed, low-rank adapters") {
  check_losses<Adapted<Of<Llama, precision::Bf16Mixed, RecomputeCheap, AdamW, NextToken>>>(1e-4);
}
TEST_CASE("fp32, every block recomputed, Lion and a moving average") {
  check_losses<Of<Llama, precision::Fp32, EveryBlock, Averaged<Lion>, NextToken>>(1e-7);
}
TEST_CASE("bf16 alone, cheap activations recomputed, AdamW with its state in bf16, masked tokens") {
  check_losses<Of<Masked<Gpt2>, precision::Bf16Pure, RecomputeCheap, Bf16State<AdamW>, MaskedTokens>>(1e-4);
}
TEST_CASE("fp16, every second block recomputed, SGD, documents") {
  check_losses<InDocuments<Of<Llama, precision::Fp16Mixed, EveryNthBlock<2>, Sgd, NextToken>>>(1e-5);
}
TEST_CASE("fp64, activations and state on the host, Lion") {
  check_losses<Of<Deeper<gpt2_like>, precision::Fp64, Offload<RecomputeCheap>, HostState<Lion>, NextToken>>(1e-14);
}
TEST_CASE("bf16 with sums in bf16, half of the blocks recomputed, AdamW, masked tokens") {
  check_losses<Of<Masked<Llama>, precision::Bf16MixedReducingBf16, Fraction<1, 2>, AdamW, MaskedTokens>>(1e-4);
}
TEST_CASE("bf16, activations on the host, AdamW's state on the host in bf16") {
  check_losses<Of<Deeper<llama_like>, precision::Bf16Mixed, Offload<>, HostState<Bf16State<AdamW>>, NextToken>>(1e-4);
}
TEST_CASE("fp32, every second block recomputed, Muon with AdamW") {
  check_losses<Of<Llama, precision::Fp32, EveryNthBlock<2>, ByClass<Muon, AdamW>, NextToken>>(1e-6);
}
TEST_CASE("bf16 alone, Muon with Lion and their state in bf16 on the host") {
  using Optimizer = HostState<Bf16State<ByClass<Muon, Lion>>>;
  check_losses<Of<Deeper<gpt2_like>, precision::Bf16Pure, KeepAll, Optimizer, NextToken>>(1e-3);
}

TEST_CASE("fp8, queries, activations and the MLP recomputed by choice, Muon with AdamW, documents") {
  using Policy = Selective<Recompute{.activation = true, .qkv = true, .mlp = true}>;
  using Optimizer = ByClass<Muon, AdamW>;
  check_losses<InDocuments<Of<OfShortRows<Llama>, precision::Fp8Mixed, Policy, Optimizer, NextToken>>>(1e-3);
}
TEST_CASE("fp8 over bf16 alone, activations on the host, Lion with its state on the host, masked tokens") {
  using R = Masked<OfShortRows<Deeper<gpt2_like>>>;
  check_losses<Of<R, PureFp8, Offload<RecomputeCheap>, HostState<Lion>, MaskedTokens>>(1e-3);
}

TEST_CASE("bf16, queries and attention recomputed by choice, low-rank adapters") {
  using Policy = Selective<Recompute{.qkv = true, .attention = true}>;
  check_losses<Adapted<Of<Llama, precision::Bf16Mixed, Policy, AdamW, NextToken>>>(1e-4);
}
TEST_CASE("fp16, norms and projections of every second block recomputed by choice, SGD, documents") {
  using Policy = Selective<Recompute{.norm = true, .projection = true}, EveryNthBlock<2>>;
  check_losses<InDocuments<Of<Llama, precision::Fp16Mixed, Policy, Sgd, NextToken>>>(1e-5);
}
TEST_CASE("fp64, attention and the MLP recomputed by choice, the rest of the activations on the host") {
  using Policy = Offload<Selective<Recompute{.activation = true, .attention = true, .mlp = true}>>;
  check_losses<Of<Deeper<gpt2_like>, precision::Fp64, Policy, HostState<AdamW>, NextToken>>(1e-14);
}
TEST_CASE("fp32, what experts read and activation functions give recomputed by choice") {
  using Policy = Selective<Recompute{.norm = true, .activation = true, .mlp = true}>;
  check_losses<WithExperts<Of<Llama, precision::Fp32, Policy, AdamW, NextToken>, losing_tokens>>(1e-6);
}

TEST_CASE("bf16, preferences by low-rank adapters, cheap activations recomputed") {
  check_losses<Adapted<Preferring<Of<Llama, precision::Bf16Mixed, RecomputeCheap, AdamW, NextToken>>>>(1e-4);
}
TEST_CASE("fp16, preferences, queries and attention recomputed by choice, Lion") {
  using Policy = Selective<Recompute{.qkv = true, .attention = true}>;
  check_losses<Preferring<Of<Llama, precision::Fp16Mixed, Policy, Lion, NextToken>>>(1e-4);
}
TEST_CASE("fp64, preferences, activations and state on the host") {
  check_losses<Preferring<Of<Deeper<gpt2_like>, precision::Fp64, Offload<>, HostState<AdamW>, NextToken>>>(1e-12);
}

TEST_CASE("fp32, gated experts that lose tokens, beside a shared one, every block recomputed") {
  check_losses<WithExperts<Of<Llama, precision::Fp32, EveryBlock, AdamW, NextToken>, losing_tokens>>(1e-6);
}
TEST_CASE("bf16, experts with biases that balance, cheap activations recomputed, Muon with AdamW") {
  using Optimizer = ByClass<Muon, AdamW>;
  check_losses<WithExperts<Of<Gpt2, precision::Bf16Mixed, RecomputeCheap, Optimizer, NextToken>, dropless>>(1e-3);
}
TEST_CASE("fp16, gated experts that lose tokens, SGD") {
  check_losses<WithExperts<Of<Llama, precision::Fp16Mixed, KeepAll, Sgd, NextToken>, losing_tokens>>(1e-3);
}
TEST_CASE("fp64, experts with biases that balance, their state on the host") {
  check_losses<WithExperts<Of<Gpt2, precision::Fp64, KeepAll, HostState<AdamW>, NextToken>, dropless>>(1e-12);
}

}  // namespace monomorph::testing
