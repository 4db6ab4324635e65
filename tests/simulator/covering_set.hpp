#pragma once
#include "support/gpu_step.hpp"

#include <monomorph/optim/averaged.hpp>
#include <monomorph/optim/bf16_state.hpp>

#include <string_view>
#include <tuple>

/// Recipes among which every precision, activation checkpointing, optimiser and objective that the device has comes at
/// least once.
namespace monomorph::testing {

template <class R> struct Covered {
  using Recipe = R;
  std::string_view name;
  double tolerance;  ///< between losses of a GPU and of a CPU, relative
};

namespace covering {

template <class R, class Precision, class Checkpointing, class Optimizer = optim::AdamW,
          class Objective = objective::NextToken>
struct Of : R {
  using precision = Precision;
  using checkpointing = Checkpointing;
  using optimizer = Optimizer;
  using objective = Objective;
};
template <class R> struct Masked : R { using attention = attention::Bidirectional; };
template <class R> struct Adapted : R {
  using finetuning = finetuning::LowRank<
      LowRankSpec{.rank = 4,
                  .alpha = 6,
                  .dropout = 0.2,
                  .targets = {.key = true, .output = true, .gate = true, .up = true, .down = true}}>;
};
template <class R> struct InNf4 : R { using finetuning = finetuning::Nf4Base<typename R::finetuning>; };
template <class R, MixtureSpec spec> struct WithExperts : R {
  static constexpr auto model = [] {
    auto model = R::model;
    model.bias.mlp = false;
    return model;
  }();
  using layers = Stack<Run<DecoderBlock, 1>, Run<Mixture<spec>::template Block, R::model.n_layers - 1>>;
};
inline constexpr MixtureSpec losing_tokens{
    .n_experts = 5, .top_k = 2, .capacity_factor = 1.25, .n_shared = 1, .balance_loss = 0.01, .z_loss = 0.001};
inline constexpr MixtureSpec dropless{
    .n_experts = 6, .top_k = 2, .scores = RouterScores::sigmoid, .normalize = false, .bias_rate = 0.01};
struct PureFp8 : precision::Bf16Pure {
  static constexpr int amax_history = 2, scale_margin = 1;
};

using Gpt2 = Small<gpt2_like>;
using Llama = Small<llama_like>;
template <class R> using Deeper = Small<R, 4>;
using MaskedTokens = objective::MaskedTokens<49>;
using namespace precision;
using namespace checkpointing;
using namespace optim;

inline constexpr std::tuple set{
    Covered<Adapted<Of<Llama, Bf16Mixed, RecomputeCheap>>>{"bf16, cheap activations recomputed, low-rank adapters",
                                                           1e-4},
    Covered<Of<Llama, Fp32, EveryBlock, Averaged<Lion>>>{"fp32, every block recomputed, Lion and a moving average",
                                                         1e-7},
    Covered<Of<Masked<Gpt2>, Bf16Pure, RecomputeCheap, Bf16State<AdamW>, MaskedTokens>>{
        "bf16 alone, cheap activations recomputed, AdamW with its state in bf16, masked tokens", 1e-4},
    Covered<InDocuments<Of<Llama, Fp16Mixed, EveryNthBlock<2>, Sgd>>>{
        "fp16, every second block recomputed, SGD, documents", 1e-5},
    Covered<Of<Deeper<gpt2_like>, Fp64, Offload<RecomputeCheap>, HostState<Lion>>>{
        "fp64, activations and state on the host, Lion", 1e-14},
    Covered<Of<Masked<Llama>, Bf16MixedReducingBf16, Fraction<1, 2>, AdamW, MaskedTokens>>{
        "bf16 with sums in bf16, half of the blocks recomputed, AdamW, masked tokens", 1e-4},
    Covered<Of<Deeper<llama_like>, Bf16Mixed, Offload<>, HostState<Bf16State<AdamW>>>>{
        "bf16, activations on the host, AdamW's state on the host in bf16", 1e-4},
    Covered<Of<Llama, Fp32, EveryNthBlock<2>, ByClass<Muon, AdamW>>>{
        "fp32, every second block recomputed, Muon with AdamW", 1e-6},
    Covered<Of<Deeper<gpt2_like>, Bf16Pure, KeepAll, HostState<Bf16State<ByClass<Muon, Lion>>>>>{
        "bf16 alone, Muon with Lion and their state in bf16 on the host", 1e-3},
    Covered<Of<Llama, NarrowLogits<Bf16Mixed>, RecomputeCheap>>{"bf16, logits too, cheap activations recomputed", 1e-4},

    Covered<InDocuments<Of<OfShortRows<Llama>, Fp8Mixed,
                           Selective<Recompute{.activation = true, .qkv = true, .mlp = true}>, ByClass<Muon, AdamW>>>>{
        "fp8, queries, activations and the MLP recomputed by choice, Muon with AdamW, documents", 1e-3},
    Covered<
        Of<Masked<OfShortRows<Deeper<gpt2_like>>>, PureFp8, Offload<RecomputeCheap>, HostState<Lion>, MaskedTokens>>{
        "fp8 over bf16 alone, activations on the host, Lion with its state on the host, masked tokens", 1e-3},

    Covered<Adapted<Of<Llama, Bf16Mixed, Selective<Recompute{.qkv = true, .attention = true}>>>>{
        "bf16, queries and attention recomputed by choice, low-rank adapters", 1e-4},
    Covered<InNf4<Adapted<Of<Llama, Bf16Mixed, EveryBlock>>>>{
        "bf16, low-rank adapters beside a base in NF4, every block recomputed", 1e-4},
    Covered<InNf4<Adapted<Of<OfShortRows<Llama>, Fp8Mixed, RecomputeCheap>>>>{
        "fp8, low-rank adapters beside a base in NF4, cheap activations recomputed", 1e-3},
    Covered<InDocuments<
        Of<Llama, Fp16Mixed, Selective<Recompute{.norm = true, .projection = true}, EveryNthBlock<2>>, Sgd>>>{
        "fp16, norms and projections of every second block recomputed by choice, SGD, documents", 1e-5},
    Covered<Of<Deeper<gpt2_like>, Fp64,
               Offload<Selective<Recompute{.activation = true, .attention = true, .mlp = true}>>, HostState<AdamW>>>{
        "fp64, attention and the MLP recomputed by choice, the rest of the activations on the host", 1e-14},
    Covered<WithExperts<Of<Llama, Fp32, Selective<Recompute{.norm = true, .activation = true, .mlp = true}>>,
                        losing_tokens>>{"fp32, what experts read and activation functions give recomputed by choice",
                                        1e-6},

    Covered<Adapted<Preferring<Of<Llama, Bf16Mixed, RecomputeCheap>>>>{
        "bf16, preferences by low-rank adapters, cheap activations recomputed", 1e-4},
    Covered<Preferring<Of<Llama, Fp16Mixed, Selective<Recompute{.qkv = true, .attention = true}>, Lion>>>{
        "fp16, preferences, queries and attention recomputed by choice, Lion", 1e-4},
    Covered<Preferring<Of<Deeper<gpt2_like>, Fp64, Offload<>, HostState<AdamW>>>>{
        "fp64, preferences, activations and state on the host", 1e-12},

    Covered<WithExperts<Of<Llama, Fp32, EveryBlock>, losing_tokens>>{
        "fp32, gated experts that lose tokens, beside a shared one, every block recomputed", 1e-6},
    Covered<WithExperts<Of<Gpt2, Bf16Mixed, RecomputeCheap, ByClass<Bf16Muon, AdamW>>, dropless>>{
        "bf16, experts with biases that balance, cheap activations recomputed, Muon in bf16 with AdamW", 1e-3},
    Covered<WithExperts<Of<Llama, Fp16Mixed, KeepAll, Sgd>, losing_tokens>>{"fp16, gated experts that lose tokens, SGD",
                                                                            1e-3},
    Covered<WithExperts<Of<Gpt2, Fp64, KeepAll, HostState<AdamW>>, dropless>>{
        "fp64, experts with biases that balance, their state on the host", 1e-12}};

}  // namespace covering
}  // namespace monomorph::testing
