#pragma once
#include <monomorph/model/vocabulary_head.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>
#include <monomorph/train/step/inference_model.hpp>

namespace monomorph::train {

/// All layers of the recipe can extend sequences against a cache.
template <class R>
inline constexpr bool every_layer_decodes = [] {
  bool all = true;
  boost::hana::for_each(LayersOf<R>::runs, [&](auto run) {
    using Layer = typename decltype(run)::template block<R>;
    all = all && requires(const DecodeTensorsOf<R>& t) { Layer::decode(t); };
  });
  return all;
}();

/// Of layers that have no cache, or whose prefix each new token changes: a whole sequence goes through the model's
/// forward pass for every token that is wanted.
template <class R> class RecomputingTokenPass final : public TokenPass {
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr std::int64_t T = trunk_of<R>.context_length, V = trunk_of<R>.padded_vocab();
  struct HeadLayout {
    Layout activations, statistics;
    constexpr HeadLayout() { typename LastLayer<R>::DecodeTemporary(activations, statistics, 1); }
  };
  static constexpr HeadLayout layout{};

 public:
  /// @param head parameters of the head's unit   @param micro_batch sequences of the model's forward pass
  RecomputingTokenPass(typename device_of<R>::Queue queue, const PassSizes& sizes, InferenceModel& model,
                       UnitBuffer head, std::int64_t micro_batch)
      : queue_(queue),
        sizes_(sizes),
        model_(model),
        head_(head),
        ids_(sizes.pages * PagedTokens::page, 0),
        batch_ids_(micro_batch * T, 0),
        batch_targets_(micro_batch * T, ignored_target),
        document_starts_(micro_batch * T, 0),
        arena_(layout.activations.elements * size_of(compute) +
                   (layout.statistics.elements + align_up(V)) * size_of(statistic) +
                   align_up(sizes.wanted * V) * size_of(DType::fp32),
               allocator(queue)),
        activations_(arena_.take(layout.activations.elements, compute)),
        statistics_(arena_.take(layout.statistics.elements, statistic)),
        logits_V_(arena_.take(align_up(V), statistic).columns(0, V)),
        fp32_logits_WV_(arena_.take(align_up(sizes.wanted * V), DType::fp32)[Slice{0, {sizes.wanted, V}}]) {}

  PassSizes sizes() const override { return sizes_; }
  PassLimits limits() const override { return {T, trunk_of<R>.vocab_size}; }

  View run(const NewTokens& tokens) override {
    for (std::int64_t i = 0; i < tokens.places.tokens; ++i)
      ids_[tokens.places.row(i, tokens.places.position(i))] = tokens.ids_B[i];
    const std::int64_t n_wanted = std::ssize(tokens.wanted);
    for (std::int64_t i = 0; i < n_wanted; ++i) {
      const std::int32_t token = tokens.wanted[static_cast<std::size_t>(i)];
      compute_logits(tokens.places, token, fp32_logits_WV_.rows(i, 1));
    }
    return n_wanted == 0 ? View{} : copy_to_host(queue_, fp32_logits_WV_.rows(0, n_wanted), on_host_);
  }

 private:
  /// What is not known yet is another document: no token sees it, be it behind itself in a prefix.
  void compute_logits(const PagedTokens& places, std::int64_t token, View logits) {
    const std::int64_t position = places.position(token);
    for (std::int64_t t = 0; t < T; ++t) {
      batch_ids_[t] = t <= position ? ids_[places.row(token, t)] : 0;
      document_starts_[t] = t <= position ? 0 : static_cast<std::int32_t>(position + 1);
    }
    model_.evaluate({batch_ids_.data(), batch_targets_.data(), 0, document_starts_.data()});
    LastLayer<R>::decode({{.params = head_,
                           .x_BD = model_.hidden_state(plan::block_of_layer<R>(plan::last_layer<R>)).rows(position, 1),
                           .logits_BV = logits_V_,
                           .activations = activations_,
                           .statistics = statistics_,
                           .batch = 1},
                          queue_});
    copy(queue_, logits_V_, logits);
  }

  typename device_of<R>::Queue queue_;
  PassSizes sizes_;
  InferenceModel& model_;
  UnitBuffer head_;
  std::vector<std::int32_t> ids_;  ///< by row of the pages
  std::vector<std::int32_t> batch_ids_, batch_targets_, document_starts_;
  Arena arena_;
  View activations_, statistics_, logits_V_, fp32_logits_WV_;
  HostBuffer on_host_;
};

}  // namespace monomorph::train
