#pragma once
#include <monomorph/run.hpp>
#include <monomorph/runtime/cuda/device.hpp>

/// What bench/gpu times and counts: the recipes of issue 17, each on one GPU, or on a device that plays one.
namespace bench {

struct OneGpu {
  using sharding = monomorph::sharding::Replicate;
  using precision = monomorph::precision::Bf16Mixed;
  using checkpointing = monomorph::checkpointing::KeepAll;
  using optimizer = monomorph::optim::AdamW;
};

struct gpt2_124m : OneGpu {
  static constexpr auto model = monomorph::models::gpt2_124m;
};

/// With logits in bf16, as autocast has them, and besides with less of the activations kept.
struct gpt2_124m_narrow : gpt2_124m {
  using precision = monomorph::precision::NarrowLogits<gpt2_124m::precision>;
};
struct gpt2_124m_lean : gpt2_124m_narrow {
  using checkpointing = monomorph::checkpointing::RecomputeCheap;
};

/// The shapes of Qwen 2.5 1.5B (Qwen Team 2024) without biases.
struct qwen_1_5b : OneGpu {
  static constexpr monomorph::DecoderSpec model{.vocab_size = 151'936,
                                                .n_layers = 28,
                                                .n_heads = 12,
                                                .d_model = 1536,
                                                .context_length = 1024,
                                                .n_kv_heads = 2,
                                                .d_ff = 8960,
                                                .norm = {.kind = monomorph::NormKind::rms_norm,
                                                         .epsilon = 1e-6,
                                                         .bias = false},
                                                .activation = monomorph::Activation::swiglu,
                                                .position = monomorph::Position::rotary,
                                                .rotary = {.base = 1'000'000},
                                                .bias = monomorph::no_biases,
                                                .tied_head = true};
};

/// So narrow that a CPU trains it.
struct qwen_shaped_128 : qwen_1_5b {
  static constexpr auto model = [] {
    auto shapes = qwen_1_5b::model;
    shapes.vocab_size = 4096;
    shapes.n_layers = 16;
    shapes.n_heads = 4;
    shapes.d_model = 128;
    shapes.context_length = 256;
    shapes.d_ff = 736;
    return shapes;
  }();
};

/// The shapes of Qwen 2.5 7B without biases, in 10 bytes a parameter.
struct qwen_7b : OneGpu {
  static constexpr auto model = [] {
    auto shapes = qwen_1_5b::model;
    shapes.vocab_size = 152'064;
    shapes.n_heads = 28;
    shapes.d_model = 3584;
    shapes.n_kv_heads = 4;
    shapes.d_ff = 18'944;
    shapes.tied_head = false;
    return shapes;
  }();
  using precision = monomorph::precision::Bf16Pure;
};

/// Bf16Pure, with the products of blocks in fp8.
struct Fp8Pure : monomorph::precision::Bf16Pure {
  using needs = monomorph::precision::Fp8Mixed::needs;
  static constexpr int amax_history = monomorph::precision::Fp8Mixed::amax_history;
  static constexpr int scale_margin = monomorph::precision::Fp8Mixed::scale_margin;
};

struct qwen_1_5b_fp8 : qwen_1_5b {
  using precision = monomorph::precision::Fp8Mixed;
};
struct qwen_shaped_128_fp8 : qwen_shaped_128 {
  using precision = monomorph::precision::Fp8Mixed;
};
struct qwen_7b_fp8 : qwen_7b {
  using precision = Fp8Pure;
};

struct llama_1b : OneGpu {
  static constexpr auto model = [] {
    auto shapes = monomorph::models::llama3_1b;
    shapes.context_length = 4096;
    return shapes;
  }();
};

/// A recipe whose blocks' matrices another optimiser updates.
template <class R, class Matrices> struct ByMatrices : R {
  using optimizer = monomorph::optim::ByClass<Matrices, monomorph::optim::AdamW>;
};
using gpt2_124m_muon = ByMatrices<gpt2_124m, monomorph::optim::Muon>;
using gpt2_124m_bf16_muon = ByMatrices<gpt2_124m, monomorph::optim::Bf16Muon>;
using qwen_1_5b_muon = ByMatrices<qwen_1_5b, monomorph::optim::Muon>;
using qwen_1_5b_bf16_muon = ByMatrices<qwen_1_5b, monomorph::optim::Bf16Muon>;

/// All of it in 10 bytes a parameter, which leaves an H200 room for all activations.
struct llama_8b : OneGpu {
  static constexpr auto model = monomorph::models::llama3_8b;
  using precision = monomorph::precision::Bf16Pure;
};

struct llama_8b_fp8 : llama_8b {
  using precision = Fp8Pure;
};

}  // namespace bench
