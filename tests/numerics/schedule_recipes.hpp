#pragma once
#include <monomorph/run.hpp>
#include <monomorph/train/step/step.hpp>

/// Small recipes of the two families, with dropout wherever it can be.
namespace monomorph::testing {

struct gpt2_like {
  static constexpr DecoderSpec model{.vocab_size = 50,
                                     .n_layers = 4,
                                     .n_heads = 4,
                                     .d_model = 32,
                                     .context_length = 24,
                                     .vocab_multiple = 64,
                                     .dropout = {.embedding = 0.1, .attention = 0.2, .residual = 0.1},
                                     .attention_kernel = AttentionKernel::reference};
  using sharding = sharding::FullShard;
  using precision = precision::Fp32;
  using checkpointing = checkpointing::KeepAll;
  using optimizer = optim::AdamW;
};

struct llama_like : gpt2_like {
  static constexpr DecoderSpec model{.vocab_size = 50,
                                     .n_layers = 4,
                                     .n_heads = 4,
                                     .d_model = 32,
                                     .context_length = 24,
                                     .n_kv_heads = 2,
                                     .d_ff = 80,
                                     .norm = {.kind = NormKind::rms_norm, .bias = false},
                                     .qk_norm = true,
                                     .activation = Activation::swiglu,
                                     .position = Position::rotary,
                                     .bias = no_biases,
                                     .tied_head = false,
                                     .dropout = {.embedding = 0.1, .residual = 0.1},
                                     .initialization = {.scheme = InitializationScheme::llama3}};
};

/// A row holds several documents.
template <class R> struct InDocuments : R { using attention = attention::WithinDocuments; };
template <class R> struct InBf16 : R { using precision = precision::Bf16Mixed; };
template <class R, class Strategy> struct Sharded : R { using sharding = Strategy; };

/// With soft caps that most scores and logits feel.
template <class R> struct Capped : R {
  static constexpr DecoderSpec model = [] {
    DecoderSpec model = R::model;
    model.soft_cap = {.scores = 0.5, .logits = 2};
    return model;
  }();
};

/// n sequences whose tokens follow from their place; the i-th has 5 i targets that do not count, and i + 1 documents.
struct Sequences {
  std::vector<std::int32_t> inputs, targets, document_starts;
  Sequences(std::int64_t n, std::int64_t T, std::int32_t vocab_size) {
    for (std::int64_t i = 0; i < n * T; ++i) {
      inputs.push_back(static_cast<std::int32_t>((i * i + 7 * i / 3) % vocab_size));
      const bool counts = i % T >= 5 * (i / T);
      targets.push_back(counts ? static_cast<std::int32_t>((3 * i * i + i) % vocab_size) : ignored_target);
      const auto t = static_cast<std::int32_t>(i % T);
      document_starts.push_back(t % (T / (i / T + 1)) == 0 ? t : document_starts.back());
    }
  }
  train::MicroBatch from(std::int64_t sequence, std::int64_t T) const {
    return {inputs.data() + sequence * T, targets.data() + sequence * T, static_cast<std::uint64_t>(sequence),
            document_starts.data() + sequence * T};
  }
};
inline const Sequences sequences(4, gpt2_like::model.context_length, 50);

}  // namespace monomorph::testing
