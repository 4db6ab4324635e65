#pragma once
#include <monomorph/block/tensors_of.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>

namespace monomorph {

/// What a block may touch to extend B sequences by one token.
struct DecodeTensors {
  UnitBuffer params;             ///< of the unit
  const std::int32_t* ids_B;     ///< the new tokens, which the first layer embeds
  View x_BD;                     ///< residual stream, updated in place
  View logits_BV;                ///< what the last layer makes of it; fp32 at least
  View cache;                    ///< flat, in the layout of Block::DecodeCache of B · capacity rows
  View activations, statistics;  ///< flat, in the layouts of Block::DecodeTemporary; statistics are fp32 at least
  View rotary_cos_TH, rotary_sin_TH;
  std::int64_t batch, capacity;
  std::int64_t position;  ///< of the new token; as many are in the cache
};

/// The same, with the queue that the block's kernels take first.
template <class Queue> struct DecodeTensorsOn : DecodeTensors { Queue queue; };

}  // namespace monomorph
