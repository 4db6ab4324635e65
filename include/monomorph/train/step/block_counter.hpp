#pragma once
#include <monomorph/plan/block_counts.hpp>
#include <monomorph/train/step/training_step.hpp>
#include <monomorph/train/step/unit_state.hpp>
#include <utility>

namespace monomorph::train {

/// What the blocks of a recipe count in a step: auxiliary losses, and integers for the update of their state.
template <class R> class BlockCounter {
  static constexpr bool counts_loss = plan::any_auxiliary_loss<R>, counts = plan::n_counters<R> != 0;

 public:
  BlockCounter() { counts_.counters.resize(plan::n_counters<R>); }

  void begin_step() {
    counts_.auxiliary_loss = {};
    for (std::int64_t& counter : counts_.counters) counter = 0;
  }
  /// The same tensors, for forward: in that of a training pass, and nowhere else, blocks count.
  template <class T> T counting(T t) {
    if constexpr (counts_loss) t.auxiliary_loss = t.training ? &auxiliary_loss_ : nullptr;
    if constexpr (counts) t.counters = t.training ? counters_of_block(t.block) : nullptr;
    return t;
  }
  /// @param tokens the counted ones of the micro-batch
  void end_forward(double tokens) {
    if constexpr (counts_loss) counts_.auxiliary_loss.add(std::exchange(auxiliary_loss_, 0) * tokens);
  }
  /// Of a run of tensors that are a block's own to update.
  void update_state(auto queue, int block, const ElementUpdate& run, const UpdateScalars& scalars) {
    if constexpr (counts)
      with_block<R>(block, [&](auto b) {
        if constexpr (plan::counters_of<decltype(b)> != 0)
          b.update_state(queue, run, counters_of_block(block), scalars.update);
      });
  }
  BlockCounts& sums() { return counts_; }

 private:
  std::int64_t* counters_of_block(int block) { return counts_.counters.data() + plan::first_counter<R>[block]; }

  BlockCounts counts_{.has_auxiliary_loss = counts_loss};
  double auxiliary_loss_ = 0;  ///< of the micro-batch, not yet times its tokens
};

}  // namespace monomorph::train
