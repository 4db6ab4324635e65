#pragma once
#include <monomorph/block/tensors_of.hpp>
#include <monomorph/core/step_scalars.hpp>
#include <monomorph/runtime/kernels/dropout.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>

namespace monomorph {

class AutogradTape;

/// What a layer may touch in one call, and all that a block may. M = B·T tokens.
struct BlockTensors {
  int block;                      ///< 0 to L - 1; -1 is the layer before the blocks, L the one behind them
  UnitBuffer params, gradients;   ///< of the unit, by the slices of Block::Params
  View x_MD, y_MD;                ///< the block's input and output
  View dx_MD;                     ///< gradient of the residual stream: of y on entry of backward, of x when it returns
  View activations, statistics;   ///< flat buffers that the slices of Block::Saved and Block::Temporary lie in
  std::int64_t temporary_offset;  ///< where Block::Temporary begins in `activations`
  View rotary_cos_TH, rotary_sin_TH;
  std::int64_t batch, tokens;           ///< B, T
  const std::int32_t* document_starts;  ///< (B, T), as of a MicroBatch; null: a row is one document
  DropoutKey dropout;                   ///< rate, layer and site are the block's to fill in
  bool training;                        ///< false: no dropout
  bool recomputes;                      ///< backward calls recompute first
  AutogradTape* tape;                   ///< for blocks that have no backward of their own
  bool accumulate;                      ///< add to the gradients instead of overwriting them
  StepScalars* scalars;                 ///< for kernels to read, or add to
  /// Where a pass adds its auxiliary losses, each times its coefficient, and what else the block counts. Null where
  /// nothing must be counted: in an evaluation, and in backward, whose recomputation would count twice.
  double* auxiliary_loss;
  std::int64_t* counters;
  /// Where a pass of training joins the greatest magnitudes of what its products round to fp8; null in an evaluation. A
  /// recomputation finds the same ones.
  std::int64_t* maxima;
};

/// The same, with the queue that the block's kernels take first: its type says which device they run on.
template <class Queue> struct TensorsOn : BlockTensors { Queue queue; };

}  // namespace monomorph
