#pragma once
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/plan/activations.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/memory/arena.hpp>
#include <monomorph/runtime/memory/transfers.hpp>

namespace monomorph::train {

/// Everything whose size follows the micro-batch: the residual stream, and what forward leaves for backward. The
/// checkpointing policy says what of it stays on the device, what waits in the host's memory, and what is computed
/// again before the block's backward.
template <Recipe R> class ActivationStore {
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);
  static constexpr int L = plan::n_blocks<R>;
  static constexpr bool offloads = plan::offloads_some<R>;

 public:
  /// @param dp data-parallel ranks
  ActivationStore(std::int64_t micro_batch, int dp, Arena& arena, Arena& host, Transfers* transfers)
      : plan_(micro_batch, dp),
        activations_(arena.take(plan_.buffer.elements, compute)),
        statistics_(arena.take(plan_.statistics.elements, statistic)),
        host_activations_(host.take(plan_.host_buffer.elements, compute)),
        host_statistics_(host.take(plan_.host_statistics.elements, statistic)),
        transfers_(transfers) {}

  const plan::Activations<R>& plan() const { return plan_; }
  View activations() const { return activations_; }
  View statistics() const { return statistics_; }
  View operator[](Slice slice) const { return activations_[slice]; }
  View x_MD(int block) const { return activations_[plan_.x_MD[block]]; }
  template <class Block> typename Block::Saved saved(Block block, int i) const { return plan_.saved(block, i); }

  /// Whether backward finds nothing of a block but its input.
  static constexpr bool recomputes(int block) {
    return !plan::backward_reaches<R>(plan::unit_of_block(block)) ||
           R::checkpointing::recompute(block) == Recompute::block;
  }

  /// The block's place on the device is free.
  void before_forward(int block) {
    if constexpr (offloads)
      if (const int before = plan_.shares_place_with(block); before >= 0) transfers_->wait(moved_[before]);
  }
  void after_forward(int block, bool training) {
    if constexpr (offloads)
      if (training && plan_.moves(block)) {
        const auto& [activations, statistics, host_activations, host_statistics] = plan_.offloaded(block);
        move(block, activations_[activations], host_activations_[host_activations]);
        move(block, statistics_[statistics], host_statistics_[host_statistics]);
      }
  }
  /// What the block's backward reads is there.
  template <class Block> void before_backward(Block block, const TensorsOf<R>& t, const typename Block::Saved& saved) {
    if constexpr (offloads)
      if (plan_.moves(t.block)) transfers_->wait(moved_[t.block]);
    if (R::checkpointing::recompute(t.block) != Recompute::nothing) block.recompute(t, saved);
  }
  /// The block's place goes back to the one that had it before, while the block between them computes.
  void after_backward(int block) {
    if constexpr (offloads)
      if (const int before = plan_.shares_place_with(block); before >= 0) {
        const auto& [activations, statistics, host_activations, host_statistics] = plan_.offloaded(before);
        move(before, host_activations_[host_activations], activations_[activations]);
        move(before, host_statistics_[host_statistics], statistics_[statistics]);
      }
  }

 private:
  void move(int block, View from, View to) {
    if (from.present()) moved_[block] = transfers_->start(from, to);
  }

  plan::Activations<R> plan_;
  View activations_, statistics_, host_activations_, host_statistics_;
  Transfers* transfers_;                  ///< null if nothing is offloaded
  std::array<std::uint64_t, L> moved_{};  ///< by block, the number of its last copy
};

}  // namespace monomorph::train
