#pragma once
#include <monomorph/model/decoder_block.hpp>
#include <monomorph/model/head.hpp>
#include <monomorph/runtime/kernels/embedding.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// Decodes one sequence with a key-value cache. Its memory is an arena of its own, as it lives only while text is
/// written.
template <class R> class CachedDecoder final : public Decoder {
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr std::int64_t T = R::model.context_length, D = R::model.d_model, K = R::model.kv_width(),
                                V = R::model.padded_vocab(), L = plan::n_blocks<R>;
  using Block = DecoderBlock<R>;
  static constexpr Layout buffers() {
    Layout layout;
    for (const std::int64_t cols : {D, D, Block::D, Block::QKV, Block::Q, Block::G, Block::F}) layout.take({1, cols});
    return layout;
  }

 public:
  CachedDecoder(std::vector<View> params, View cos_TH, View sin_TH)
      : params_(std::move(params)),
        cos_TH_(cos_TH),
        sin_TH_(sin_TH),
        arena_(2 * L * T * K * size_of(compute) + buffers().elements * size_of(compute) +
               (V + 4 * align_up(R::model.n_heads)) * size_of(statistic) + (4 * L + 8) * 64 + V * 4) {
    for (int block = 0; block < L; ++block)
      cache_.push_back({arena_.take(T * K, compute).reshaped({T, K}), arena_.take(T * K, compute).reshaped({T, K})});
    x_D_ = arena_.take(D, compute);
    normed_D_ = arena_.take(D, compute);
    scratch_ = arena_.take(buffers().elements - 2 * align_up(D), compute);
    statistics_ = arena_.take(4 * align_up(R::model.n_heads), statistic);
    logits_V_ = arena_.take(V, statistic);
    if (statistic != DType::fp32) fp32_logits_V_ = arena_.take(V, DType::fp32);
  }

  void reset() override { length_ = 0; }
  std::int64_t capacity() const override { return T; }
  std::int64_t length() const override { return length_; }

  const float* feed(std::int32_t token) override {
    constexpr typename EmbeddingUnit<R>::Params e;
    constexpr model::HeadParams<R> h;
    const View embedding = params_[plan::embedding_unit<R>], head = params_[plan::head_unit<R>];
    kernels::embedding(&token, embedding[e.table_VD], embedding[e.positions_TD], 1, length_, x_D_);
    for (int block = 0; block < L; ++block) with_block<R>(block, [&](auto b) { b.decode(tensors(block)); });
    model::normalize<R>(x_D_, head[h.norm_D], head[h.norm_bias_D], normed_D_, statistics_.columns(0, 1),
                        statistics_.columns(alignment_elements, 1));
    kernels::linear(normed_D_, head[h.head_VD], {}, logits_V_);
    ++length_;
    if (!fp32_logits_V_.present()) return logits_V_.as<float>();
    kernels::copy(logits_V_, fp32_logits_V_);
    return fp32_logits_V_.as<float>();
  }

 private:
  struct Cache {
    View k, v;
  };
  DecodeTensors tensors(int block) const {
    return {.params = params_[plan::unit_of_block(block)],
            .x_BD = x_D_,
            .k_cache = cache_[block].k,
            .v_cache = cache_[block].v,
            .scratch = scratch_,
            .statistics = statistics_,
            .rotary_cos_TH = cos_TH_,
            .rotary_sin_TH = sin_TH_,
            .batch = 1,
            .capacity = T,
            .position = length_};
  }

  std::vector<View> params_;
  View cos_TH_, sin_TH_;
  Arena arena_;
  std::vector<Cache> cache_;
  View x_D_, normed_D_, scratch_, statistics_, logits_V_, fp32_logits_V_;
  std::int64_t length_ = 0;
};

}  // namespace monomorph::train
