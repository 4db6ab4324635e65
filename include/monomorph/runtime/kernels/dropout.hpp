#pragma once
#include <monomorph/runtime/machine/queue.hpp>
#include <monomorph/runtime/memory/view.hpp>

/// Dropout whose mask is never stored: it is drawn anew, from the key, by forward, recomputation and backward alike.
namespace monomorph {

/// What changes from one pass of a step to the next.
struct DropoutPass {
  std::uint64_t step = 0;
  std::uint64_t first_sample = 0;  ///< global index of the first sequence in the view
};

/// What a mask depends on: nothing of ranks, micro-batches or history.
struct DropoutKey {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint64_t first_sample = 0;  ///< global index of the first sequence in the view
  std::uint32_t layer = 0, site = 0;
  std::int64_t tokens_per_sample = 1;  ///< row r of a view: sample first_sample + r / tokens, position r % tokens
  double rate = 0;                     ///< probability of zero; what is kept is divided by 1 - rate
  /// Of kernels that a device records (train/step/recorded_step.hpp): where the host says before each run what then
  /// stands for step and first_sample. Null: they are here.
  const DropoutPass* of_run = nullptr;
};

}  // namespace monomorph

namespace monomorph::cpu {

void dropout(Queue, View x_MD, View y_MD, const DropoutKey& key);  ///< also its own backward; may be in place
void dropout_add(Queue, View x_MD, View residual_MD, View y_MD, const DropoutKey& key);  ///< y = residual + dropout(x)

}  // namespace monomorph::cpu
