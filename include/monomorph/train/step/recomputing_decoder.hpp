#pragma once
#include <monomorph/model/vocabulary_head.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// All layers of the recipe can extend a sequence by one token.
template <class R>
inline constexpr bool every_layer_decodes = [] {
  bool all = true;
  boost::hana::for_each(LayersOf<R>::runs, [&](auto run) {
    using Layer = typename decltype(run)::template block<R>;
    all = all && requires(const DecodeTensorsOf<R>& t) { Layer::decode(t); };
  });
  return all;
}();

/// Decodes with blocks that have no cache, or whose prefix each token of it changes: the whole sequence goes through
/// the forward pass for every token.
template <class R> class RecomputingDecoder final : public Decoder {
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr std::int64_t T = trunk_of<R>.context_length, V = trunk_of<R>.padded_vocab();
  struct HeadLayout {
    Layout activations, statistics;
    constexpr HeadLayout() { typename LastLayer<R>::DecodeTemporary(activations, statistics, 1); }
  };
  static constexpr HeadLayout layout{};

 public:
  /// @param head parameters of the head's unit   @param micro_batch sequences of the step's forward pass
  RecomputingDecoder(typename device_of<R>::Queue queue, TrainingStep& step, UnitBuffer head, std::int64_t micro_batch)
      : queue_(queue),
        step_(step),
        head_(head),
        ids_(micro_batch * T, 0),
        targets_(micro_batch * T, ignored_target),
        document_starts_(micro_batch * T, 0),
        arena_(layout.activations.elements * size_of(compute) +
                   (layout.statistics.elements + align_up(V)) * size_of(statistic) + align_up(V) * size_of(DType::fp32),
               allocator(queue)),
        activations_(arena_.take(layout.activations.elements, compute)),
        statistics_(arena_.take(layout.statistics.elements, statistic)),
        logits_V_(arena_.take(align_up(V), statistic).columns(0, V)),
        fp32_logits_V_(arena_.take(align_up(V), DType::fp32).columns(0, V)) {}

  void reset() override { length_ = 0; }
  std::int64_t capacity() const override { return T; }
  std::int64_t length() const override { return length_; }

  const float* feed(std::int32_t token) override {
    ids_[length_] = token;
    // What is not known yet is another document: no token sees it, be it behind itself in a prefix.
    document_starts_[length_] = 0;
    for (std::int64_t t = length_ + 1; t < T; ++t) document_starts_[t] = static_cast<std::int32_t>(length_ + 1);
    step_.evaluate({ids_.data(), targets_.data(), 0, document_starts_.data()});
    const std::int64_t position = length_++;
    LastLayer<R>::decode({{.params = head_,
                           .x_BD = step_.hidden_state(plan::block_of_layer<R>(plan::last_layer<R>)).rows(position, 1),
                           .logits_BV = logits_V_,
                           .activations = activations_,
                           .statistics = statistics_,
                           .batch = 1,
                           .position = position},
                          queue_});
    copy(queue_, logits_V_, fp32_logits_V_);
    return copy_to_host(queue_, fp32_logits_V_, on_host_).template as<float>();
  }

 private:
  typename device_of<R>::Queue queue_;
  TrainingStep& step_;
  UnitBuffer head_;
  std::vector<std::int32_t> ids_, targets_, document_starts_;
  Arena arena_;
  View activations_, statistics_, logits_V_, fp32_logits_V_;
  HostBuffer on_host_;
  std::int64_t length_ = 0;
};

}  // namespace monomorph::train
