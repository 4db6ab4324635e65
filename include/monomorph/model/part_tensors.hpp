#pragma once
#include <monomorph/block/part.hpp>
#include <monomorph/model/block_tensors.hpp>
#include <monomorph/model/decode_tensors.hpp>

namespace monomorph {

/// What a part may touch in a pass of its block.
template <class Part> struct PartTensors {
  const TensorsOn<typename Part::Queue>& t;
  const typename Part::Params& p;
  const typename Part::Saved& saved;
  const typename Part::Temporary& temporary;
  typename Part::Queue queue = t.queue;

  View param(Slice slice) const { return t.params[slice]; }
  View gradient(Slice slice) const { return t.gradients[slice]; }
  View activation(Slice slice) const { return t.activations[slice]; }
  View statistic(Slice slice) const { return t.statistics[slice]; }
};

/// What a part may touch when its block extends sequences by new tokens.
template <class Part> struct PartDecode {
  const DecodeTensorsOn<typename Part::Queue>& t;
  const typename Part::Params& p;
  const typename Part::DecodeTemporary& temporary;
  const typename Part::DecodeCache& cache;
  typename Part::Queue queue = t.queue;

  View param(Slice slice) const { return t.params[slice]; }
  View activation(Slice slice) const { return t.activations[slice]; }
  View statistic(Slice slice) const { return t.statistics[slice]; }
  View cached(Slice slice) const { return t.cache[slice]; }
};

inline DropoutKey dropout_key(const BlockTensors& t, DropoutSite site, double rate) {
  DropoutKey key = t.dropout;
  key.layer = static_cast<std::uint32_t>(t.block + 1);
  key.site = static_cast<std::uint32_t>(site);
  key.rate = t.training ? rate : 0;
  return key;
}

}  // namespace monomorph
