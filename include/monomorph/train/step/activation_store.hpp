#pragma once
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/plan/activations.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/runtime/memory/transfers.hpp>

namespace monomorph::train {

/// Everything whose size follows the micro-batch: the residual stream, and what forward leaves for backward. The
/// checkpointing policy says what of it stays on the device, what waits in the host's memory, and what is computed
/// again before the layer's backward.
template <Recipe R> class ActivationStore {
  using Transfers = TransfersOf<typename device_of<R>::Queue>;
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr bool offloads = plan::offloads_some<R>;

 public:
  /// @param ranks data-parallel ones
  ActivationStore(std::int64_t micro_batch, int ranks, plan::Purpose purpose, Arena& arena, Arena& host,
                  Transfers* transfers)
      : plan_(micro_batch, ranks, plan::checkpointing_values<typename R::checkpointing>, purpose),
        activations_(arena.take(plan_.buffer.elements, compute)),
        statistics_(arena.take(plan_.statistics.elements, statistic)),
        host_activations_(host.take(plan_.host_buffer.elements, compute)),
        host_statistics_(host.take(plan_.host_statistics.elements, statistic)),
        transfers_(transfers) {}

  const plan::Activations<R>& plan() const { return plan_; }
  View activations() const { return activations_; }
  View statistics() const { return statistics_; }
  View operator[](Slice slice) const { return activations_[slice]; }
  /// Output of a layer, and input of the next one; the last layer has none.
  View y_MD(int layer) const {
    return 0 <= layer && layer < plan::last_layer<R> ? activations_[plan_.y_MD[layer]] : View{};
  }
  template <class Layer> typename Layer::Saved saved(Layer layer, int i) const { return plan_.saved(layer, i); }

  /// The layer's place on the device is free.
  void before_forward(int layer) {
    if constexpr (offloads)
      if (const int before = plan_.shares_place_with(layer); before >= 0) transfers_->wait(moved_[before]);
  }
  void after_forward(int layer, bool training) {
    if constexpr (offloads)
      if (training && plan_.moves(layer)) {
        const auto& [activations, statistics, host_activations, host_statistics] = plan_.offloaded(layer);
        move(layer, activations_[activations], host_activations_[host_activations]);
        move(layer, statistics_[statistics], host_statistics_[host_statistics]);
      }
  }
  /// What the layer's backward reads is there.
  template <class Layer>
  void before_backward(Layer layer, int i, const TensorsOf<R>& t, const typename Layer::Saved& saved) {
    if constexpr (offloads)
      if (plan_.moves(i)) transfers_->wait(moved_[i]);
    if constexpr (plan::recomputes_some<R> && requires { layer.recompute(t, saved); })
      if (plan::recomputed<R>(i) != Recompute::nothing) layer.recompute(t, saved);
  }
  /// The layer's place goes back to the one that had it before, while the layer between them computes.
  void after_backward(int layer) {
    if constexpr (offloads)
      if (const int before = plan_.shares_place_with(layer); before >= 0) {
        const auto& [activations, statistics, host_activations, host_statistics] = plan_.offloaded(before);
        move(before, host_activations_[host_activations], activations_[activations]);
        move(before, host_statistics_[host_statistics], statistics_[statistics]);
      }
  }

 private:
  void move(int layer, View from, View to) {
    if (from.present()) moved_[layer] = transfers_->start(from, to);
  }

  plan::Activations<R> plan_;
  View activations_, statistics_, host_activations_, host_statistics_;
  Transfers* transfers_;                                  ///< null if nothing is offloaded
  std::array<std::uint64_t, plan::n_layers<R>> moved_{};  ///< by layer, the number of its last copy
};

}  // namespace monomorph::train
