#pragma once
#include <monomorph/block/tensors_of.hpp>
#include <monomorph/runtime/kernels/paged_tokens.hpp>
#include <monomorph/runtime/memory/unit_buffer.hpp>

namespace monomorph {

/// What a layer may touch to extend sequences by B new tokens in all, some of them by many and others by one.
struct DecodeTensors {
  UnitBuffer params{};                  ///< of the unit
  const std::int32_t* ids_B = nullptr;  ///< the new tokens, which the first layer embeds
  View x_BD{};                          ///< residual stream, updated in place
  View logits_BV{};                     ///< what the last layer makes of it; fp32 at least
  View cache{};                         ///< flat, in the layout of Block::DecodeCache of so many rows:
  std::int64_t cache_rows = 0;
  View activations{}, statistics{};  ///< flat, in the layouts of Block::DecodeTemporary; statistics are fp32 at least
  View rotary_cos_TH{}, rotary_sin_TH{};
  std::int64_t batch = 0;  ///< B
  PagedTokens tokens{};    ///< where they stand; the last layer, which has some of them alone, is not told
};

/// The same, with the queue that the block's kernels take first.
template <class Queue> struct DecodeTensorsOn : DecodeTensors { Queue queue; };

}  // namespace monomorph
