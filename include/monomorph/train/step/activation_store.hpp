#pragma once
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/plan/activations.hpp>
#include <monomorph/recipe.hpp>
#include <monomorph/runtime/memory/arena.hpp>

namespace monomorph::train {

/// Everything whose size follows the micro-batch: the residual stream, and what forward leaves for backward. The
/// checkpointing policy says what of it stays; anything else is computed again before the block's backward.
template <Recipe R> class ActivationStore {
  static constexpr DType compute = R::precision::compute_dtype, statistic = statistics_dtype(compute);

 public:
  ActivationStore(std::int64_t micro_batch, Arena& arena)
      : plan_(micro_batch),
        activations_(arena.take(plan_.buffer.elements, compute)),
        statistics_(arena.take(plan_.statistics.elements, statistic)) {}

  const plan::Activations<R>& plan() const { return plan_; }
  View activations() const { return activations_; }
  View statistics() const { return statistics_; }
  View operator[](Slice slice) const { return activations_[slice]; }
  View x_MD(int block) const { return activations_[plan_.x_MD[block]]; }
  template <class Block> typename Block::Saved saved(Block block, int i) const { return plan_.saved(block, i); }

  /// Whether what backward reads of a block is not there after forward.
  static constexpr bool recomputes(int block) {
    return !plan::backward_reaches<R>(plan::unit_of_block(block)) ||
           R::checkpointing::recompute(block) == Recompute::block;
  }
  template <class Block> void before_backward(Block block, const BlockTensors& t, const typename Block::Saved& saved) {
    if (R::checkpointing::recompute(t.block) != Recompute::nothing) block.recompute(t, saved);
  }

 private:
  plan::Activations<R> plan_;
  View activations_, statistics_;
};

}  // namespace monomorph::train
