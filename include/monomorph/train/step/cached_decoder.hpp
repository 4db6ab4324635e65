#pragma once
#include <monomorph/model/layers.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>
#include <monomorph/train/step/check_batch.hpp>

namespace monomorph::train {

/// What decoding one sequence needs, by the layers that the recipe has: a cache for each, and temporaries that they
/// share.
template <class R> struct DecoderLayout {
  static constexpr std::int64_t T = trunk_of<R>.context_length, D = trunk_of<R>.d_model;
  Layout caches, activations, statistics;
  std::array<Slice, plan::n_layers<R>> cache{};
  Slice x_D, temporary, temporary_statistics;

  constexpr DecoderLayout() : x_D(activations.take({1, D})) {
    Layout longest, longest_statistics;
    for (int i = 0; i < plan::n_layers<R>; ++i)
      with_layer<R>(i, [&](auto layer) {
        using Layer = decltype(layer);
        Layout of_cache, of_activations, of_statistics;
        typename Layer::DecodeCache(of_cache, T);
        typename Layer::DecodeTemporary(of_activations, of_statistics, 1);
        cache[i] = caches.take({1, of_cache.elements});
        longest.elements = larger_of(longest.elements, of_activations.elements);
        longest_statistics.elements = larger_of(longest_statistics.elements, of_statistics.elements);
      });
    temporary = activations.take({1, longest.elements});
    temporary_statistics = statistics.take({1, longest_statistics.elements});
  }
};

/// Decodes one sequence with a key-value cache. Its memory is an arena of its own, as it lives only while text is
/// written.
template <class R> class CachedDecoder final : public Decoder {
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr std::int64_t T = trunk_of<R>.context_length, V = trunk_of<R>.padded_vocab();
  static constexpr DecoderLayout<R> layout{};
  static constexpr bool converts_logits = statistic != DType::fp32;

 public:
  /// @param params of each unit
  CachedDecoder(typename device_of<R>::Queue queue, std::vector<UnitBuffer> params, View cos_TH, View sin_TH)
      : queue_(queue),
        params_(std::move(params)),
        cos_TH_(cos_TH),
        sin_TH_(sin_TH),
        arena_((layout.caches.elements + layout.activations.elements) * size_of(compute) +
                   (layout.statistics.elements + align_up(V)) * size_of(statistic) +
                   (converts_logits ? align_up(V) * size_of(DType::fp32) : 0),
               allocator(queue)),
        caches_(arena_.take(layout.caches.elements, compute)),
        activations_(arena_.take(layout.activations.elements, compute)),
        statistics_(arena_.take(layout.statistics.elements, statistic)),
        logits_V_(arena_.take(align_up(V), statistic).columns(0, V)) {
    if (converts_logits) fp32_logits_V_ = arena_.take(align_up(V), DType::fp32).columns(0, V);
  }

  void reset() override { length_ = 0; }
  std::int64_t capacity() const override { return T; }
  std::int64_t length() const override { return length_; }

  const float* feed(std::int32_t token) override {
    check_token(token, trunk_of<R>.vocab_size);
    for (int i = 0; i < plan::n_layers<R>; ++i) with_layer<R>(i, [&](auto layer) { layer.decode(tensors(i, &token)); });
    ++length_;
    if (fp32_logits_V_.present()) copy(queue_, logits_V_, fp32_logits_V_);
    const View logits_V = fp32_logits_V_.present() ? fp32_logits_V_ : logits_V_;
    return copy_to_host(queue_, logits_V, on_host_).template as<float>();
  }

 private:
  DecodeTensorsOf<R> tensors(int layer, const std::int32_t* token) const {
    return {{.params = params_[plan::unit_of_layer<R>(layer)],
             .ids_B = token,
             .x_BD = activations_[layout.x_D],
             .logits_BV = logits_V_,
             .cache = caches_[layout.cache[layer]],
             .activations = activations_[layout.temporary],
             .statistics = statistics_[layout.temporary_statistics],
             .rotary_cos_TH = cos_TH_,
             .rotary_sin_TH = sin_TH_,
             .batch = 1,
             .capacity = T,
             .position = length_},
            queue_};
  }

  typename device_of<R>::Queue queue_;
  std::vector<UnitBuffer> params_;
  View cos_TH_, sin_TH_;
  Arena arena_;
  View caches_, activations_, statistics_, logits_V_, fp32_logits_V_;
  HostBuffer on_host_;
  std::int64_t length_ = 0;
};

}  // namespace monomorph::train
