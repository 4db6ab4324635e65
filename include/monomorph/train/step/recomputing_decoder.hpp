#pragma once
#include <monomorph/model/decode_tensors.hpp>
#include <monomorph/model/head.hpp>
#include <monomorph/plan/units.hpp>
#include <monomorph/runtime/kernels/elementwise.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/train/step/training_step.hpp>

namespace monomorph::train {

/// All kinds of block in the recipe can extend a sequence by one token.
template <class R>
inline constexpr bool every_block_decodes = [] {
  bool all = true;
  boost::hana::for_each(layers_of<R>.runs, [&](auto run) {
    using Block = typename decltype(run)::template block<R>;
    all = all && requires(const DecodeTensorsOf<R>& t) { Block::decode(t); };
  });
  return all;
}();

/// Decodes with blocks that have no cache, or whose prefix each token of it changes: the whole sequence goes through
/// the forward pass for every token.
template <class R> class RecomputingDecoder final : public Decoder {
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr std::int64_t T = R::model.context_length, D = R::model.d_model, V = R::model.padded_vocab();

 public:
  /// @param head the head unit's parameters   @param micro_batch sequences of the step's forward pass
  RecomputingDecoder(typename device_of<R>::Queue queue, TrainingStep& step, View head, std::int64_t micro_batch)
      : queue_(queue),
        step_(step),
        head_(head),
        ids_(micro_batch * T, 0),
        targets_(micro_batch * T, ignored_target),
        document_starts_(micro_batch * T, 0),
        arena_((D + 64) * size_of(compute) + (V + 192) * size_of(statistic) + (V + 64) * 4 + 384) {
    normed_D_ = arena_.take(D, compute);
    statistics_ = arena_.take(2 * alignment_elements, statistic);
    logits_V_ = arena_.take(V, statistic);
    fp32_logits_V_ = arena_.take(V, DType::fp32);
  }

  void reset() override { length_ = 0; }
  std::int64_t capacity() const override { return T; }
  std::int64_t length() const override { return length_; }

  const float* feed(std::int32_t token) override {
    constexpr model::HeadParams<R> h;
    ids_[length_] = token;
    // What is not known yet is another document: no token sees it, be it behind itself in a prefix.
    document_starts_[length_] = 0;
    for (std::int64_t t = length_ + 1; t < T; ++t) document_starts_[t] = static_cast<std::int32_t>(length_ + 1);
    step_.evaluate({ids_.data(), targets_.data(), 0, document_starts_.data()});
    const View x_D = step_.hidden_state(plan::n_blocks<R>).rows(length_++, 1);
    model::normalize<R>(queue_, x_D, head_[h.norm_D], head_[h.norm_bias_D], normed_D_, statistics_.columns(0, 1),
                        statistics_.columns(alignment_elements, 1));
    linear(queue_, normed_D_, head_[h.head_VD], {}, logits_V_);
    copy(queue_, logits_V_, fp32_logits_V_);
    synchronize(queue_);
    return fp32_logits_V_.as<float>();
  }

 private:
  typename device_of<R>::Queue queue_;
  TrainingStep& step_;
  View head_;
  std::vector<std::int32_t> ids_, targets_, document_starts_;
  Arena arena_;
  View normed_D_, statistics_, logits_V_, fp32_logits_V_;
  std::int64_t length_ = 0;
};

}  // namespace monomorph::train
