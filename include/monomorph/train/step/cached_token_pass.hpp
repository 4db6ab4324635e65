#pragma once
#include <array>
#include <monomorph/model/layers.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/runtime/memory/host_copy.hpp>
#include <monomorph/train/step/parameter_store.hpp>
#include <monomorph/train/step/rotary_tables.hpp>
#include <monomorph/train/step/token_pass.hpp>

namespace monomorph::train {

/// Where things lie in the memory of a pass, by the layers that the recipe has: a cache for each, and temporaries that
/// they share.
template <class R> struct PassLayout {
  Layout caches, activations, statistics;
  std::array<Slice, plan::n_layers<R>> cache{};
  Slice x_BD, wanted_x_WD, temporary, logits_WV, temporary_statistics;

  explicit PassLayout(const PassSizes& sizes)
      : x_BD(activations.take({sizes.tokens, trunk_of<R>.d_model})),
        wanted_x_WD(activations.take({sizes.wanted, trunk_of<R>.d_model})),
        logits_WV(statistics.take({sizes.wanted, trunk_of<R>.padded_vocab()})) {
    Layout longest, longest_statistics;
    for (int i = 0; i < plan::n_layers<R>; ++i)
      with_layer<R>(i, [&](auto layer) {
        using Layer = decltype(layer);
        Layout of_cache, of_activations, of_statistics;
        typename Layer::DecodeCache(of_cache, sizes.pages * PagedTokens::page);
        typename Layer::DecodeTemporary(of_activations, of_statistics,
                                        i == plan::last_layer<R> ? sizes.wanted : sizes.tokens);
        cache[i] = caches.take({1, of_cache.elements});
        longest.elements = larger_of(longest.elements, of_activations.elements);
        longest_statistics.elements = larger_of(longest_statistics.elements, of_statistics.elements);
      });
    temporary = activations.take({1, longest.elements});
    temporary_statistics = statistics.take({1, longest_statistics.elements});
  }
};

/// Of layers that extend sequences against a cache. Parameters come and go as in a step's forward: those in the host's
/// memory are fetched, and of those in NF4 numbers are made, one layer after the other. Its memory is an arena of its
/// own, as it lives only while text is written.
template <class R> class CachedTokenPass final : public TokenPass {
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr std::int64_t V = trunk_of<R>.padded_vocab();
  static constexpr bool converts_logits = statistic != DType::fp32;

 public:
  /// @param parameters outlive this
  CachedTokenPass(typename device_of<R>::Queue queue, const PassSizes& sizes, ParameterStore<R>& parameters,
                  const RotaryTables<R>& tables)
      : queue_(queue),
        sizes_(sizes),
        layout_(sizes),
        parameters_(parameters),
        tables_(tables),
        arena_((layout_.caches.elements + layout_.activations.elements) * size_of(compute) +
                   layout_.statistics.elements * size_of(statistic) +
                   (converts_logits ? align_up(sizes.wanted * V) * size_of(DType::fp32) : 0),
               allocator(queue)),
        caches_(arena_.take(layout_.caches.elements, compute)),
        activations_(arena_.take(layout_.activations.elements, compute)),
        statistics_(arena_.take(layout_.statistics.elements, statistic)) {
    if (converts_logits)
      fp32_logits_WV_ = arena_.take(align_up(sizes.wanted * V), DType::fp32)[Slice{0, {sizes.wanted, V}}];
  }

  PassSizes sizes() const override { return sizes_; }
  PassLimits limits() const override { return {trunk_of<R>.context_length, trunk_of<R>.vocab_size}; }

  View run(const NewTokens& tokens) override {
    const View x_BD = activations_[layout_.x_BD].rows(0, tokens.places.tokens);
    const std::int64_t n_wanted = std::ssize(tokens.wanted);
    for (int i = 0; i <= plan::last_layer<R>; ++i) {
      parameters_.before_forward(i);
      if (i < plan::last_layer<R>)
        decode(i, tokens, x_BD);
      else if (n_wanted > 0)
        decode(i, tokens, wanted(tokens, x_BD));
      parameters_.after_forward(i);
    }
    parameters_.after_evaluation();
    if (n_wanted == 0) return {};
    View logits_WV = statistics_[layout_.logits_WV].rows(0, n_wanted);
    if (converts_logits) {
      copy(queue_, logits_WV, fp32_logits_WV_.rows(0, n_wanted));
      logits_WV = fp32_logits_WV_.rows(0, n_wanted);
    }
    return copy_to_host(queue_, logits_WV, on_host_);
  }

 private:
  /// The rows of the wanted tokens, one below the other.
  View wanted(const NewTokens& tokens, View x_BD) const {
    const std::int64_t n = std::ssize(tokens.wanted);
    if (n == x_BD.shape.rows) return x_BD;
    const View wanted_WD = activations_[layout_.wanted_x_WD].rows(0, n);
    for (std::int64_t i = 0; i < n; ++i)
      copy(queue_, x_BD.rows(tokens.wanted[static_cast<std::size_t>(i)], 1), wanted_WD.rows(i, 1));
    return wanted_WD;
  }
  void decode(int i, const NewTokens& tokens, View x_BD) const {
    const DecodeTensorsOf<R> t{{.params = parameters_.of_unit(plan::unit_of_layer<R>(i)),
                                .ids_B = tokens.ids_B,
                                .x_BD = x_BD,
                                .logits_BV = statistics_[layout_.logits_WV].rows(0, x_BD.shape.rows),
                                .cache = caches_[layout_.cache[i]],
                                .cache_rows = sizes_.pages * PagedTokens::page,
                                .activations = activations_[layout_.temporary],
                                .statistics = statistics_[layout_.temporary_statistics],
                                .rotary_cos_TH = tables_.of_layer(i).cos_TH,
                                .rotary_sin_TH = tables_.of_layer(i).sin_TH,
                                .batch = x_BD.shape.rows,
                                .tokens = tokens.places},
                               queue_};
    with_layer<R>(i, [&](auto layer) { layer.decode(t); });
  }

  typename device_of<R>::Queue queue_;
  PassSizes sizes_;
  PassLayout<R> layout_;
  ParameterStore<R>& parameters_;
  RotaryTables<R> tables_;
  Arena arena_;
  View caches_, activations_, statistics_, fp32_logits_WV_;
  HostBuffer on_host_;
};

}  // namespace monomorph::train
